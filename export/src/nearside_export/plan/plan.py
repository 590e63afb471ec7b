"""What an export takes: what ``--dry-run`` says, and the room that is asked for before work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nearside_export import disk
from nearside_export.lower.delegates import Delegate
from nearside_export.wanted import Wanted

MACHINE = "two cores of an x86_64 server"
"""What the estimates of time are for; they are rough (see :mod:`.costs`)."""


@dataclass(frozen=True)
class Plan:
    """Estimates of one package.

    ``package_bytes`` has all its variants, ``work_bytes`` what is kept until the export ends;
    ``memory_bytes`` is the peak. ``quantisation``, ``delegates`` and ``attention`` as the manifest
    names them.
    """

    package: Path
    quantisation: tuple[str, ...]
    parameters: int
    package_bytes: int
    work_bytes: int
    memory_bytes: int
    seconds: float
    attention: str | None = None
    delegates: tuple[str, ...] = ("XnnpackBackend",)

    def require_room(self, work: Path) -> None:
        """`DiskError` where the package does not fit; that ``work`` does not is no failure."""
        needed = self.package_bytes
        if same_disk(self.package.parent, work):
            needed += self.work_bytes
        disk.require(self.package.parent, needed, f"the export of {self.package.name}")

    def text(self, work: Path) -> str:
        """Spell it for people, with the room that there is."""
        place = self.package.parent
        lines = [
            f"{self.package}: nothing was written",
            f"  parameters     {self.parameters / 1e6:.1f} million",
            f"  quantisation   {', '.join(self.quantisation)}",
            f"  delegates      {', '.join(self.delegates)}",
        ]
        if self.attention is not None:
            lines.append(f"  attention      {self.attention}")
        fits = "" if disk.writable(place) else "; it can't be written to"
        lines += [
            f"  package        about {_size(self.package_bytes)}, {_size(disk.free(place))} free "
            f"in {place}{fits}",
            f"  kept meanwhile about {_size(self.work_bytes)}, {_size(disk.free(work))} free in "
            f"{work}",
            f"  memory         about {_size(self.memory_bytes)} at most",
            f"  time           about {_time(self.seconds)} on {MACHINE}, roughly",
        ]
        return "\n".join(lines)


def delegates_of(variants: Sequence[Wanted]) -> tuple[str, ...]:
    """Name ExecuTorch's delegates of ``variants``, as the manifest does."""
    return tuple(dict.fromkeys(_who_runs(v.delegate) for v in variants))


def _who_runs(delegate: Delegate) -> str:
    kernels = "Nearside's own kernels" if delegate.own else "portable kernels"
    return delegate.backend or kernels


def same_disk(one: Path, other: Path) -> bool:
    """Whether two folders, which need not exist yet, share their room."""
    return disk.device(one) == disk.device(other)


def _size(count: float) -> str:
    for unit in ("bytes", "KB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} minutes"
