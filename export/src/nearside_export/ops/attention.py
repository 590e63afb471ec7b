"""``nearside::attention``: attention over a KV cache that it updates in place.

One call stands for what takes a decoder layer about ten plain operators: writing the new keys and
values into the cache, the mask, and grouped-query attention. The caches are arguments that the
operator mutates, so that no copy of a cache is made:

- ``torch.export`` wraps the call in ``auto_functionalized_v2``, which passes through lowering.
- ``to_executorch`` unwraps it (``unsafe_remove_auto_functionalized_pass``): the caches are the
  buffers themselves again, and no ``copy_`` writes them back. It takes no
  ``run_reinplace_pass``. The call must be the only one that writes the buffer, or the next writer
  must take its result.
- Export takes two example inputs that are one tensor object for one input: give ``visible_until`` a
  tensor of its own, or the program ignores what is passed for it.
- The memory planner gives the buffers places of their own in each method. For methods that share
  them, plan with ``share_mutable_buffers`` (memory id 2).

Layouts: query f32 ``[1, S, H, D]``, key and value f32 ``[1, S, KV, D]``, rotated and normalised
already; ``H`` is a multiple of ``KV``, and head ``h`` uses key head ``h // (H / KV)``. Caches f32
``[KV, C, D]``. Position ``p`` lives in slot ``p % C``. ``cache_position`` i64 ``[S]``: row ``i`` is
written to the slot of ``cache_position[i]``. The row at position ``p`` then sees positions
``max(0, p - window + 1)`` to ``visible_until[i]``, which is ``p`` or later; to ``p`` without
``visible_until``. What their slots hold counts, whether it was written or not.

A ``window`` of 0 is none: positions are 0 to C - 1 then. With a window the cache may be a ring that
positions go round, as long as all that a call sees and writes fits into it at once.
"""

from __future__ import annotations

from typing import Any

import torch

from nearside_export.ops.definition import define, require

NAME = "nearside::attention"

ARGUMENTS = (
    "Tensor query, Tensor key, Tensor value, Tensor(a!) key_cache, Tensor(b!) value_cache, "
    "Tensor cache_position, Tensor? visible_until, float scale, int window"
)


def attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    cache_position: torch.Tensor,
    visible_until: torch.Tensor | None = None,
    *,
    scale: float,
    window: int = 0,
) -> torch.Tensor:
    """Write ``key`` and ``value`` into the caches, then attend: f32 ``[1, S, H, D]``.

    Nothing of it has a gradient. Arguments as in the module's description; ``scale`` multiplies the
    scores. Raises ``RuntimeError`` for shapes, types or positions that don't fit together.
    """
    return torch.ops.nearside.attention(
        query,
        key,
        value,
        key_cache,
        value_cache,
        cache_position,
        visible_until,
        float(scale),
        window,
    )


def _eager(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    cache_position: torch.Tensor,
    visible_until: torch.Tensor | None,
    scale: float,
    window: int,
) -> torch.Tensor:
    _check_shapes(
        query, key, value, key_cache, value_cache, cache_position, visible_until, scale, window
    )
    last = cache_position if visible_until is None else visible_until
    slots = key_cache.shape[1]
    check_positions("attention", cache_position, last, window, slots)
    # In order, so that of rows for the same slot the last one stays.
    written = cache_position % slots if slots else cache_position
    key_cache[:, written] = key[0].transpose(0, 1)
    value_cache[:, written] = value[0].transpose(0, 1)
    return attend(query, key_cache, value_cache, cache_position, last, scale, window)


def attend(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    cache_position: torch.Tensor,
    last: torch.Tensor,
    scale: float,
    window: int,
) -> torch.Tensor:
    """Attend to caches f32 ``[KV, C, D]`` that are written: f32 ``[1, S, H, D]``.

    ``last`` i64 ``[S]`` is the last position that each row sees.
    """
    rows, heads, dim = query.shape[1:]
    key_heads, slots = keys.shape[:2]
    first = _first(cache_position, window)
    grouped = query[0].reshape(rows, key_heads, heads // key_heads, dim).permute(1, 2, 0, 3)
    # Nothing before or after these is seen by anyone.
    positions = cache_position
    if rows:
        positions = torch.arange(int(first.min()), int(last.max()) + 1)
    seen = (positions >= first[:, None]) & (positions <= last[:, None])
    there = positions % slots if slots else positions
    scores = grouped @ keys[:, None, there].transpose(-1, -2) * scale
    weights = scores.masked_fill(~seen, -torch.inf).softmax(-1)
    mixed = weights @ values[:, None, there]
    return mixed.permute(2, 0, 1, 3).reshape(1, rows, heads, dim).contiguous()


def _first(cache_position: torch.Tensor, window: int) -> torch.Tensor:
    """First position that each row sees."""
    if window:
        return (cache_position - window + 1).clamp(min=0)
    return torch.zeros_like(cache_position)


def _fake(*call: Any) -> torch.Tensor:  # noqa: ANN401
    _check_shapes(*call)
    query = call[0]
    return query.new_empty(query.shape)


def _check_shapes(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    cache_position: torch.Tensor,
    visible_until: torch.Tensor | None,
    _scale: float,
    window: int,
) -> None:
    floats = {
        "query": (query, 4),
        "key": (key, 4),
        "value": (value, 4),
        "key_cache": (key_cache, 3),
        "value_cache": (value_cache, 3),
    }
    positions = {"cache_position": cache_position}
    if visible_until is not None:
        positions["visible_until"] = visible_until
    for name, (tensor, dims) in floats.items():
        require(
            "attention", tensor.dtype is torch.float32, f"{name} is {tensor.dtype}, not float32"
        )
        require(
            "attention", tensor.dim() == dims, f"{name} has {tensor.dim()} dimensions, not {dims}"
        )
    for name, tensor in positions.items():
        require("attention", tensor.dtype is torch.int64, f"{name} is {tensor.dtype}, not int64")
        require("attention", tensor.dim() == 1, f"{name} has {tensor.dim()} dimensions, not 1")
    require("attention", window >= 0, f"window is {window}; 0 is none")
    batch, rows, heads, dim = query.shape
    key_heads = key_cache.shape[0]
    require("attention", batch == 1, f"the batch is {batch}, not 1")
    require(
        "attention",
        key_heads > 0 and heads % key_heads == 0,
        f"{heads} query heads can't share {key_heads} key heads",
    )
    require(
        "attention",
        tuple(value_cache.shape) == tuple(key_cache.shape),
        f"the caches have shapes {list(key_cache.shape)} and {list(value_cache.shape)}",
    )
    require(
        "attention", key_cache.shape[2] == dim, f"the caches are for heads of {key_cache.shape[2]}"
    )
    for name in ("key", "value"):
        tensor = floats[name][0]
        shape = (1, rows, key_heads, dim)
        for found, wanted in zip(tensor.shape, shape, strict=True):
            torch._check(found == wanted, lambda n=name, s=shape: f"{NAME}: {n} must be {list(s)}")
    for name, tensor in positions.items():
        torch._check(
            tensor.shape[0] == rows, lambda n=name: f"{NAME}: {n} must have one number a row"
        )


def check_positions(
    name: str, written: torch.Tensor, last: torch.Tensor, window: int, slots: int
) -> None:
    """``RuntimeError`` for positions that a cache of ``slots`` can't have at once.

    ``written`` are those of the rows, ``last`` the last one that each sees.
    """
    if written.numel() == 0:
        return
    oldest, newest = int(_first(written, window).min()), int(last.max())
    place = "from 0 on" if window else f"within 0 to {slots - 1}"
    require(
        name,
        int(written.min()) >= 0 and (window > 0 or int(written.max()) < slots),
        f"cache_position {written.tolist()} is not {place}",
    )
    require(
        name,
        bool((last >= written).all()) and (window > 0 or newest < slots),
        f"visible_until {last.tolist()} is not {place} and from cache_position on",
    )
    require(
        name,
        newest - oldest < slots,
        f"its rows see and write the positions {oldest} to {newest}, more than the cache's "
        f"{slots} slots: give fewer rows a call",
    )


define("attention", ARGUMENTS, _eager, _fake)
