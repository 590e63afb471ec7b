"""What the layers of one call share: positions, rotary tables, masks. Each is computed once."""

from __future__ import annotations

import torch

from nearside_export.architectures.decoder import rope

HIDDEN = -1e9
"""Added to the score of a slot that a row must not see: its exponential is exactly 0 in f32, and
unlike an infinity it can't turn into NaN in a delegate's softmax."""


class Step:
    """One call.

    ``positions`` i64 ``[S]``: where each row stands. ``visible_until`` i64 ``[S]`` or null: the
    last position that each row may see; its own where null. ``frequencies`` are those of each kind
    of RoPE in the model, ``turn`` is `rope.half_turn`.
    """

    def __init__(
        self,
        positions: torch.Tensor,
        visible_until: torch.Tensor | None,
        slots: int,
        frequencies: list[torch.Tensor],
        turn: torch.Tensor,
    ) -> None:
        self.positions = positions
        self.visible_until = visible_until
        self.slots = slots
        self._tables = [rope.tables(positions, f) for f in frequencies]
        self._turn = turn
        self._masks: dict[int, torch.Tensor] = {}

    def rotate(self, x: torch.Tensor, kind: int) -> torch.Tensor:
        """Rotate ``x`` f32 ``[1, S, heads, head_dim]`` by the positions, with RoPE ``kind``."""
        cos, sin = self._tables[kind]
        return rope.rotate(x, cos, sin, self._turn)

    def mask(self, window: int) -> torch.Tensor:
        """Give f32 ``[S, slots]``: 0 where a row sees a slot, `HIDDEN` where it does not."""
        if window not in self._masks:
            until = self.positions if self.visible_until is None else self.visible_until
            slot = torch.arange(self.slots).unsqueeze(0)
            visible = slot <= until.unsqueeze(1)
            if window:
                visible = visible & (slot > (self.positions - window).unsqueeze(1))
            self._masks[window] = torch.where(visible, 0.0, HIDDEN)
        return self._masks[window]
