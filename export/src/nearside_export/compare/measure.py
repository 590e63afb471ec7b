"""Measure subjects in turns, so that whatever else the machine does meets all of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from nearside_export.compare.result import Entry, Result, Speed, claimed
from nearside_export.compare.subjects import Subject
from nearside_export.compare.workload import Figures, Workload
from nearside_export.errors import UsageError
from nearside_export.progress import say


def open_workload(subjects: Sequence[Subject], context: int | None) -> Workload:
    """Give the work of the subjects' task; ``context`` is of ``generate``."""
    # Imported here: what classifies has no need of torch, which takes seconds.
    task = subjects[0].task.NAME
    if context is not None and task != "generate":
        raise UsageError(f"--context is for the task generate, not for {task}")
    match task:
        case "classify":
            from nearside_export.compare.classify import Pictures

            return Pictures(subjects)
        case "embed":
            from nearside_export.compare.embed import Texts

            return Texts(subjects)
        case "generate":
            from nearside_export.compare.generate import Text

            return Text(subjects, context)
    from nearside_export.compare.describe import PicturesAndText

    return PicturesAndText(subjects)


def compare(
    subjects: Sequence[Subject],
    workload: Workload,
    rounds: int,
    threads: Sequence[int],
    cli: Path,
) -> Result:
    """Measure quality, then the speed with each number of threads; ``cli`` is the command.

    `MethodError` where a program can't be run.
    """
    say("measuring quality")
    with ExitStack() as stack:
        programs = [stack.enter_context(s.program(max(threads), cli)) for s in subjects]
        measured = workload.quality(programs)
    speeds = [_speeds(subjects, workload, rounds, count, cli) for count in threads]
    return Result(
        task=subjects[0].task.NAME,
        round=workload.round,
        rounds=rounds,
        entries=[
            Entry(subject, claimed(subject), measured[place], [all_[place] for all_ in speeds])
            for place, subject in enumerate(subjects)
        ],
    )


def _speeds(
    subjects: Sequence[Subject], workload: Workload, rounds: int, threads: int, cli: Path
) -> list[Speed]:
    """Let all take turns; processes of their own, in which nothing else took memory."""
    say(f"measuring speed with {threads} thread{'s' if threads > 1 else ''}")
    found: list[list[Figures]] = [[] for _ in subjects]
    with ExitStack() as stack:
        programs = [stack.enter_context(s.program(threads, cli)) for s in subjects]
        for place, program in enumerate(programs):
            workload.prepare(place, program)
            workload.speed(place, program)
        for _ in range(rounds):
            for place, program in enumerate(programs):
                found[place].append(workload.speed(place, program))
        reports = [program.report() for program in programs]
    return [
        Speed(threads, own, sum(m.load_ms for m in report.methods), report.peak_bytes)
        for own, report in zip(found, reports, strict=True)
    ]
