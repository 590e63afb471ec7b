"""What the layers of one call share: positions, rotary tables, masks. Each is computed once."""

from __future__ import annotations

import torch

from nearside_export.architectures.decoder import rope

HIDDEN = 1e9
"""Taken from the score of a slot that a row must not see: its exponential is exactly 0 in f32, and
unlike an infinity it can't turn into NaN in a delegate's softmax."""


class Step:
    """One call.

    ``positions`` i64 ``[S]``: where each row stands, one after the other. ``visible_until`` i64
    ``[S]`` or null: the last position that each row may see; its own where null. ``context``
    positions are all there are. ``frequencies`` are those of each kind of RoPE in the model,
    ``turn`` is `rope.half_turn`.
    """

    def __init__(
        self,
        positions: torch.Tensor,
        visible_until: torch.Tensor | None,
        context: int,
        frequencies: list[torch.Tensor],
        turn: torch.Tensor,
    ) -> None:
        self.positions = positions
        self.visible_until = visible_until
        self.context = context
        # f32 has every whole number up to 16 million, and XNNPACK takes f32 only.
        self._rows = positions.to(torch.float32)
        self._tables = [rope.tables(self._rows, f) for f in frequencies]
        self._turn = turn
        self._slots: dict[int, torch.Tensor] = {context: positions}
        self._masks: dict[tuple[int, int], torch.Tensor] = {}

    def rotate(self, x: torch.Tensor, kind: int) -> torch.Tensor:
        """Rotate ``x`` f32 ``[1, S, heads, head_dim]`` by the positions, with RoPE ``kind``."""
        cos, sin = self._tables[kind]
        return rope.rotate(x, cos, sin, self._turn)

    def slots(self, slots: int) -> torch.Tensor:
        """Give where the rows go in a cache of ``slots``: i64 ``[S]``."""
        if slots not in self._slots:
            self._slots[slots] = torch.remainder(self.positions, slots)
        return self._slots[slots]

    def mask(self, window: int, slots: int) -> torch.Tensor:
        """Give f32 ``[S, slots]``: 0 where a row sees a slot, `HIDDEN` less where it does not.

        A row sees ``window`` positions up to its own, 0 is all of them, and on to its
        ``visible_until``. Caches with fewer slots than positions need a window, and calls of at
        most ``slots - window + 1`` rows: what is in a slot is then never ahead of the call.
        """
        if (window, slots) not in self._masks:
            row = self._rows.view(-1, 1)
            until = row
            if self.visible_until is not None:
                until = self.visible_until.to(torch.float32).view(-1, 1)
            # How many positions behind the last one that a row sees a slot's is.
            back = until - torch.arange(slots, dtype=torch.float32).view(1, -1)
            # Whole numbers: 0 or more is seen, -1 or less is not.
            seen = back
            if window:
                if self.visible_until is None:
                    farthest = row.clamp(max=window - 1.0)
                else:
                    farthest = until - (row - (window - 1.0)).clamp(min=0.0)
                if slots < self.context:
                    # Round the ring. The half keeps the quotient clear of whole numbers, by more
                    # than it is off by in f32 up to two million positions.
                    back = back - torch.floor((back + 0.5) * (1.0 / slots)) * slots
                    seen = farthest - back
                else:
                    seen = back.minimum(farthest - back)
            self._masks[window, slots] = seen.clamp(min=-1.0, max=0.0) * HIDDEN
        return self._masks[window, slots]
