"""The static key-value cache of one layer: state that stays in the program between calls."""

from __future__ import annotations

import torch


class KeyValueCache(torch.nn.Module):
    """Keys and values f32 ``[kv_heads, slots, head_dim]``, zeros at first, slot = position."""

    def __init__(self, kv_heads: int, slots: int, head_dim: int) -> None:
        super().__init__()
        shape = (kv_heads, slots, head_dim)
        # On the CPU even while weights are built on the meta device: nothing loads a cache.
        self.register_buffer("key", torch.zeros(shape, device="cpu"), persistent=False)
        self.register_buffer("value", torch.zeros(shape, device="cpu"), persistent=False)

    def write(
        self, positions: torch.Tensor, key: torch.Tensor, value: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Put f32 ``[1, S, kv_heads, head_dim]`` at ``positions`` i64 ``[S]``.

        Return both caches as they are then.
        """
        # `index_put_` on the second dimension, with the value in full rank: ExecuTorch's re-inplace
        # pass makes it a write of S slots into the buffer itself (fixtures/state.py says what
        # happens to `cache[:, positions] = …`).
        put = torch.ops.aten.index_put_
        heads, _, size = self.key.shape
        put(self.key, [None, positions], key.view(-1, heads, size).transpose(0, 1))
        put(self.value, [None, positions], value.view(-1, heads, size).transpose(0, 1))
        return self.key, self.value

    def reset(self) -> None:
        """Forget everything."""
        self.key.zero_()
        self.value.zero_()
