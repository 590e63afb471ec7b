"""How far figures may be from those of a manifest when they are measured again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from nearside_export.manifest import Manifest, Quality, Variant
from nearside_export.progress import say

Q = TypeVar("Q", bound=Quality)


@dataclass(frozen=True)
class Tolerance:
    """``relative`` to the claim, plus ``absolute``."""

    relative: float = 0.0
    absolute: float = 0.0

    def allows(self, claimed: float | None, measured: float | None) -> bool:
        """Whether ``measured`` is near enough, or neither is a figure."""
        if claimed is None or measured is None:
            return claimed is measured
        return abs(claimed - measured) <= self.relative * abs(claimed) + self.absolute


def measured_variants(manifest: Manifest, kind: type[Q]) -> Iterator[tuple[Variant, Q]]:
    """Give the variants whose quality was measured, with it; the others are passed over aloud."""
    for variant in manifest.variants:
        if isinstance(variant.quality, kind):
            yield variant, variant.quality
        else:
            say(f"{variant.name} was not measured at export ({variant.unmeasured}): passed over")


@dataclass(frozen=True)
class Comparison(Generic[Q]):
    """Figures of one variant: as the manifest claims and as measured now."""

    variant: str
    claimed: Q
    measured: Q
    tolerances: Mapping[str, Tolerance]

    def differences(self) -> list[str]:
        """Say which of the figures in ``tolerances`` are too far off; empty when none is."""
        pairs = {n: (getattr(self.claimed, n), getattr(self.measured, n)) for n in self.tolerances}
        return [
            f"{name}: {_figure(was)} claimed, {_figure(now)} measured"
            for name, (was, now) in pairs.items()
            if not self.tolerances[name].allows(was, now)
        ]


def _figure(value: float | None) -> str:
    return "none" if value is None else f"{value:.6g}"
