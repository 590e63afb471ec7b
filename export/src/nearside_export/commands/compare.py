"""``nearside-export compare``: packages side by side."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from nearside_export.errors import ExportError, UsageError

ROUNDS = 5


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser."""
    compare = commands.add_parser(
        "compare", help="size, quality and speed of packages side by side, as apps run them"
    )
    compare.add_argument(
        "packages",
        nargs="+",
        metavar="PACKAGE[:VARIANT]",
        help="folders NAME.nearside, of one task; all variants of one without a variant's name",
    )
    compare.add_argument(
        "--rounds", type=int, default=ROUNDS, help=f"turns that each takes (default: {ROUNDS})"
    )
    compare.add_argument(
        "--threads", type=_threads, default=[1], help="numbers of threads, such as 1,2 (default: 1)"
    )
    compare.add_argument(
        "--context",
        type=int,
        help="of the task generate: positions in use when decoding begins (default: the prompt's)",
    )
    compare.add_argument("--json", type=Path, metavar="FILE", help="write all figures there, too")
    compare.add_argument(
        "--nearside", type=Path, help="the command `nearside` (default: NEARSIDE_CLI, or the PATH)"
    )
    compare.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    if options.rounds < 1:
        raise UsageError(f"--rounds is {options.rounds}, but must be at least 1")
    if options.json is not None and not options.json.parent.is_dir():
        raise UsageError(f"--json {options.json}: there is no folder {options.json.parent}")
    from nearside_export.compare import measure
    from nearside_export.compare.subjects import open_subjects
    from nearside_export.compare.table import table
    from nearside_export.runtime import nearside

    cli = nearside.command(options.nearside)
    subjects = open_subjects(options.packages)
    workload = measure.open_workload(subjects, options.context)
    result = measure.compare(subjects, workload, options.rounds, options.threads, cli)
    print(table(result))
    if options.json is not None:
        text = json.dumps(result.to_dict(), indent=2, allow_nan=False) + "\n"
        try:
            options.json.write_text(text, encoding="utf-8")
        except OSError as error:
            raise ExportError(f"cannot write {options.json}: {error.strerror}") from error


def _threads(text: str) -> list[int]:
    try:
        counts = [int(part) for part in text.split(",")]
    except ValueError:
        counts = [0]
    if not all(1 <= count <= 256 for count in counts):
        raise argparse.ArgumentTypeError(f"{text!r} is no list of numbers from 1 to 256, as in 1,2")
    return list(dict.fromkeys(counts))
