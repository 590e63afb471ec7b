"""A comparison as a table: a column a subject."""

from __future__ import annotations

from collections.abc import Sequence

from nearside_export.compare.result import Result, Speed, data_bytes
from nearside_export.compare.workload import Figures

NONE = "-"
Value = float | str | None


def table(result: Result) -> str:
    """Lines of text, the subjects' names first."""
    entries = result.entries
    heads = [
        f"{e.subject.letter}  {e.subject.package.name}:{e.subject.variant.name}, "
        f"{e.subject.variant.quantisation}"
        for e in entries
    ]
    variants = [e.subject.variant for e in entries]
    rows: list[tuple[str, list[Value]]] = [
        ("program, bytes", [v.program.bytes for v in variants]),
        ("data files, bytes", [data_bytes(e.subject) for e in entries]),
        ("both, bytes", [e.subject.variant.program.bytes + data_bytes(e.subject) for e in entries]),
        ("delegation coverage", [v.coverage for v in variants]),
        ("planned memory, bytes", [v.planned_bytes for v in variants]),
        ("claimed, against eager fp32", []),
        *_figures([e.claimed for e in entries]),
        (f"measured now, likeness to {entries[0].subject.letter}", []),
        *_figures([e.measured for e in entries]),
    ]
    for place, first in enumerate(entries[0].speed):
        speeds = [entry.speed[place] for entry in entries]
        rows += [
            (f"{first.threads} thread{'s' if first.threads > 1 else ''}", []),
            *_speeds(speeds),
            ("  load, ms", [speed.load_ms for speed in speeds]),
            ("  peak memory, bytes", [speed.peak_bytes for speed in speeds]),
        ]
    note = f"speed: median of {result.rounds} rounds in turns, each {result.round}"
    columns = [e.subject.letter for e in entries]
    return "\n".join([*heads, "", *_lines(columns, rows), "", note])


def _figures(found: Sequence[Figures]) -> list[tuple[str, list[Value]]]:
    """Give a row for every name that any of them has."""
    names = dict.fromkeys(name for figures in found for name in figures)
    return [
        (f"  {name.replace('_per_', ' / ').replace('_', ' ')}", [f.get(name) for f in found])
        for name in names
    ]


def _speeds(speeds: Sequence[Speed]) -> list[tuple[str, list[Value]]]:
    """Give the medians, and below each where the rounds were: a busy machine shows there."""
    rows: list[tuple[str, list[Value]]] = []
    medians = _figures([speed.median for speed in speeds])
    for name, (label, values) in zip(speeds[0].median, medians, strict=True):
        ranges = [speed.range[name] for speed in speeds]
        rows += [
            (label, values),
            ("    least .. most", [f"{_text(low)} .. {_text(high)}" for low, high in ranges]),
        ]
    return rows


def _lines(columns: Sequence[str], rows: Sequence[tuple[str, list[Value]]]) -> list[str]:
    cells = [("", list(columns)), *((label, [_text(v) for v in values]) for label, values in rows)]
    first = max(len(label) for label, _ in cells)
    width = max(len(cell) for _, row in cells for cell in row)
    return [
        "  ".join([label.ljust(first), *(cell.rjust(width) for cell in row)]).rstrip()
        for label, row in cells
    ]


def _text(value: Value) -> str:
    if value is None:
        return NONE
    if isinstance(value, str):
        return value
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.4g}"
