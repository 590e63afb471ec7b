"""What a comparison found, for scripts and for the table."""

from __future__ import annotations

import dataclasses
import statistics
from dataclasses import dataclass

from nearside_export.compare.subjects import Subject
from nearside_export.compare.workload import Figures


@dataclass(frozen=True)
class Speed:
    """Rounds with ``threads`` threads, in order.

    ``load_ms`` is what loading took, all methods that were run. ``peak_bytes`` is the most
    resident memory of the process, null where the system does not tell.
    """

    threads: int
    rounds: list[Figures]
    load_ms: float
    peak_bytes: int | None

    @property
    def range(self) -> dict[str, tuple[float, float]]:
        """Each figure's least and most: where these overlap, nothing is faster than another."""
        turns = {name: [r[name] for r in self.rounds] for name in self.rounds[0]}
        return {name: (min(values), max(values)) for name, values in turns.items()}

    @property
    def median(self) -> Figures:
        """Each figure's median over the rounds."""
        return {name: statistics.median(r[name] for r in self.rounds) for name in self.rounds[0]}


@dataclass(frozen=True)
class Entry:
    """A subject's figures: ``claimed`` by its manifest against eager fp32, ``measured`` now.

    ``measured`` figures of likeness are against the first subject, which has none.
    """

    subject: Subject
    claimed: Figures
    measured: Figures
    speed: list[Speed]


@dataclass(frozen=True)
class Result:
    """Of all subjects, in order; ``round`` says what they did in each of ``rounds``."""

    task: str
    round: str
    rounds: int
    entries: list[Entry]

    def to_dict(self) -> dict[str, object]:
        """Give it as JSON values."""
        return {
            "task": self.task,
            "round": self.round,
            "rounds": self.rounds,
            "subjects": [_subject(entry) for entry in self.entries],
        }


def claimed(subject: Subject) -> Figures:
    """Give the manifest's figures without the gate; none where none were measured."""
    if subject.variant.quality is None:
        return {}
    figures = dataclasses.asdict(subject.variant.quality)
    del figures["gate"]
    return figures


def data_bytes(subject: Subject) -> int:
    """Size of the ``.ptd`` files."""
    return sum(file.bytes for file in subject.variant.external_data)


def _subject(entry: Entry) -> dict[str, object]:
    subject = entry.subject
    return {
        "package": subject.package.name,
        "variant": subject.variant.name,
        "quantisation": subject.variant.quantisation,
        "program_bytes": subject.variant.program.bytes,
        "data_bytes": data_bytes(subject),
        "coverage": subject.variant.coverage,
        "planned_bytes": subject.variant.planned_bytes,
        "claimed": entry.claimed,
        "measured": entry.measured,
        "speed": [{**dataclasses.asdict(speed), "median": speed.median} for speed in entry.speed],
    }
