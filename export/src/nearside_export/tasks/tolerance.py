"""How far figures may be from those of a manifest when they are measured again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nearside_export.manifest import Quality


@dataclass(frozen=True)
class Tolerance:
    """``relative`` to the claim, plus ``absolute``."""

    relative: float = 0.0
    absolute: float = 0.0

    def allows(self, claimed: float, measured: float) -> bool:
        """Whether ``measured`` is near enough."""
        return abs(claimed - measured) <= self.relative * abs(claimed) + self.absolute


def disagreements(
    claimed: Quality, measured: Quality, tolerances: Mapping[str, Tolerance]
) -> list[str]:
    """Say which of the figures in ``tolerances`` are too far off; empty when none is."""
    pairs = {name: (getattr(claimed, name), getattr(measured, name)) for name in tolerances}
    return [
        f"{name}: {was:.6g} claimed, {now:.6g} measured"
        for name, (was, now) in pairs.items()
        if not tolerances[name].allows(was, now)
    ]
