"""The static key-value cache of one layer: state that stays in the program between calls."""

from __future__ import annotations

import torch

from nearside_export.manifest.variant import KvCache
from nearside_export.ops import cache


def sliding_slots(context: int, window: int, rows: int) -> int:
    """Slots of a layer that sees ``window`` positions, for calls of at most ``rows`` rows.

    A call writes first and attends then: the window of its first row and all of its rows must be
    there together. The one slot more than that lets a host go back by ``rows`` positions.
    """
    return min(context, window + rows)


class KeyValueCache(torch.nn.Module):
    """Keys and values ``[kv_heads, slots, head_dim]`` of ``kind``, zeros at first.

    Position ``p`` lives in slot ``p % slots``: its own where there are as many as positions. Only
    operators of ours know other kinds than f32 (see `ops.cache`).
    """

    def __init__(self, kv_heads: int, slots: int, head_dim: int, kind: KvCache = "f32") -> None:
        super().__init__()
        shape, dtype = (kv_heads, slots, cache.row(kind, head_dim)), cache.DTYPES[kind]
        # On the CPU even while weights are built on the meta device: nothing loads a cache.
        for name in ("key", "value"):
            self.register_buffer(
                name, torch.zeros(shape, dtype=dtype, device="cpu"), persistent=False
            )

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
        self.key, self.value = (self.key.new_zeros(heads, slots, size) for _ in range(2))

    def reset(self) -> None:
        """Forget everything."""
        self.key.zero_()
        self.value.zero_()


class CachingLayer(torch.nn.Module):
    """Has a layer's cache, and knows how much of the past the layer sees.

    The cache holds all of ``context`` positions, until `keep_what_is_seen` says how many rows a
    call has at most. A ``window`` of 0 is none.
    """

    def __init__(self, store: KeyValueCache, context: int, window: int) -> None:
        super().__init__()
        self.cache = store
        self.context = context
        self.window = window

    def keep_what_is_seen(self, rows: int) -> None:
        """Empty the cache, and make it a ring if that is enough for calls of ``rows`` rows."""
        slots = sliding_slots(self.context, self.window, rows) if self.window else self.context
        self.cache.resize(slots)


def keep_what_is_seen(model: torch.nn.Module, rows: int) -> None:
    """Empty all caches of ``model``, which is called with at most ``rows`` rows from now on.

    Those of sliding layers keep what such calls can see, as rings (see `sliding_slots`).
    """
    for module in model.modules():
        if isinstance(module, CachingLayer):
            module.keep_what_is_seen(rows)
