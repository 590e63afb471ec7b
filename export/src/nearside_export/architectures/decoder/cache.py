"""The static key-value cache of one layer: state that stays in the program between calls."""

from __future__ import annotations

import torch


def sliding_slots(context: int, window: int, rows: int) -> int:
    """Slots of a layer that sees ``window`` positions, for calls of at most ``rows`` rows.

    A call writes first and attends then: the window of its first row and all of its rows must be
    there together. The one slot more than that lets a host go back by ``rows`` positions.
    """
    return min(context, window + rows)


class KeyValueCache(torch.nn.Module):
    """Keys and values f32 ``[kv_heads, slots, head_dim]``, zeros at first.

    Position ``p`` lives in slot ``p % slots``: its own where there are as many as positions.
    """

    def __init__(self, kv_heads: int, slots: int, head_dim: int) -> None:
        super().__init__()
        shape = (kv_heads, slots, head_dim)
        # On the CPU even while weights are built on the meta device: nothing loads a cache.
        self.register_buffer("key", torch.zeros(shape, device="cpu"), persistent=False)
        self.register_buffer("value", torch.zeros(shape, device="cpu"), persistent=False)

    @property
    def slots(self) -> int:
        """How many positions it holds."""
        return self.key.shape[1]

    def write(self, slots: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> None:
        """Put f32 ``[1, S, kv_heads, head_dim]`` into ``slots`` i64 ``[S]``."""
        # `index_put_` on the second dimension, with the value in full rank: ExecuTorch's re-inplace
        # pass makes it a write of S slots into the buffer itself (fixtures/state.py says what
        # happens to `cache[:, positions] = …`).
        put = torch.ops.aten.index_put_
        heads, _, size = self.key.shape
        put(self.key, [None, slots], key.view(-1, heads, size).transpose(0, 1))
        put(self.value, [None, slots], value.view(-1, heads, size).transpose(0, 1))

    def resize(self, slots: int) -> None:
        """Hold as many positions from now on, and forget everything."""
        heads, _, size = self.key.shape
        self.key, self.value = (torch.zeros(heads, slots, size) for _ in range(2))

    def reset(self) -> None:
        """Forget everything."""
        self.key.zero_()
        self.value.zero_()
