"""``nearside::rotary_attention``: all of a layer's attention between its two products.

``qkv`` f32 ``[1, S, (H + 2 * KV) * D]`` has the queries, keys and values of each row. Queries and
keys are normalised a head, where ``query_norm`` and ``key_norm`` f32 ``[D]`` are given, and rotated
by ``table`` f32 ``[S, D]`` of ``nearside::rope_table``: an element and the one half a head away
turn together. Keys and values are written into the caches, which it mutates, and what follows is
``nearside::attention``, to f32 ``[1, S, H * D]``. Beside caches of bytes queries are rounded as
keys are, so that their products are whole numbers.

``H`` is ``heads``; ``KV``, ``C`` and their type are those of the caches (:mod:`.cache`).
"""

from __future__ import annotations

from typing import Any

import torch

from nearside_export.ops import cache
from nearside_export.ops.attention import attend, check_positions
from nearside_export.ops.definition import define, require, require_tensor
from nearside_export.ops.rms_norm import normalised

NAME = "nearside::rotary_attention"
ARGUMENTS = (
    "Tensor qkv, Tensor? query_norm, Tensor? key_norm, float eps, Tensor table, "
    "Tensor(a!) key_cache, Tensor(b!) value_cache, Tensor cache_position, Tensor? visible_until, "
    "int heads, float scale, int window"
)
_SHORT = "rotary_attention"


def rotary_attention(
    qkv: torch.Tensor,
    norms: tuple[torch.Tensor, torch.Tensor] | None,
    table: torch.Tensor,
    caches: tuple[torch.Tensor, torch.Tensor],
    cache_position: torch.Tensor,
    visible_until: torch.Tensor | None = None,
    *,
    heads: int,
    scale: float,
    window: int = 0,
    eps: float = 0.0,
) -> torch.Tensor:
    """Write, then attend; ``RuntimeError`` for what does not fit together.

    ``norms`` are those of queries and keys, ``caches`` those of keys and values.
    """
    query_norm, key_norm = norms if norms is not None else (None, None)
    return torch.ops.nearside.rotary_attention(
        qkv,
        query_norm,
        key_norm,
        float(eps),
        table,
        *caches,
        cache_position,
        visible_until,
        heads,
        float(scale),
        window,
    )


def rotated(x: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """Rotate f32 ``[S, heads, D]`` by ``table`` f32 ``[S, D]``."""
    cos, sin = table[:, None].chunk(2, dim=2)
    low, high = x.chunk(2, dim=2)
    return torch.cat((low * cos - high * sin, high * cos + low * sin), dim=2)


def _eager(
    qkv: torch.Tensor,
    query_norm: torch.Tensor | None,
    key_norm: torch.Tensor | None,
    eps: float,
    table: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    cache_position: torch.Tensor,
    visible_until: torch.Tensor | None,
    heads: int,
    scale: float,
    window: int,
) -> torch.Tensor:
    _check(
        qkv,
        query_norm,
        key_norm,
        eps,
        table,
        key_cache,
        value_cache,
        cache_position,
        visible_until,
        heads,
        scale,
        window,
    )
    rows, (key_heads, slots, _) = qkv.shape[1], key_cache.shape
    last = cache_position if visible_until is None else visible_until
    check_positions(_SHORT, cache_position, last, window, slots)
    parts = qkv[0].view(rows, heads + 2 * key_heads, -1)
    query, key, value = parts.split((heads, key_heads, key_heads), dim=1)
    if query_norm is not None:
        query = normalised(query, query_norm, eps)
    if key_norm is not None:
        key = normalised(key, key_norm, eps)
    written = cache_position % slots if slots else cache_position
    cache.write(key_cache, written, rotated(key, table))
    cache.write(value_cache, written, value)
    query = rotated(query, table)
    if key_cache.dtype is torch.uint8:
        ints, scales = cache.rounded(query)
        query = ints * scales
    mixed = attend(
        query[None],
        cache.read(key_cache),
        cache.read(value_cache),
        cache_position,
        last,
        scale,
        window,
    )
    return mixed.flatten(2)


def _fake(*call: Any) -> torch.Tensor:  # noqa: ANN401
    _check(*call)
    qkv, key_cache, heads = call[0], call[5], call[9]
    return qkv.new_empty(1, qkv.shape[1], heads * cache.dim(key_cache))


def _check(
    qkv: torch.Tensor,
    query_norm: torch.Tensor | None,
    key_norm: torch.Tensor | None,
    _eps: float,
    table: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    cache_position: torch.Tensor,
    visible_until: torch.Tensor | None,
    heads: int,
    _scale: float,
    window: int,
) -> None:
    known = cache.DTYPES.values()
    require(_SHORT, key_cache.dtype in known, f"key_cache is {key_cache.dtype}")
    for name, tensor in (("key_cache", key_cache), ("value_cache", value_cache)):
        require_tensor(_SHORT, name, tensor, key_cache.dtype, 3)
    shapes = [list(key_cache.shape), list(value_cache.shape)]
    require(_SHORT, shapes[0] == shapes[1], f"the caches have shapes {shapes[0]} and {shapes[1]}")
    key_heads, dim = key_cache.shape[0], cache.dim(key_cache)
    require(
        _SHORT,
        key_heads > 0 and heads > 0 and heads % key_heads == 0,
        f"{heads} query heads can't share {key_heads} key heads",
    )
    require(_SHORT, dim > 0 and dim % 2 == 0, f"heads of {dim} numbers have no two halves")
    require(_SHORT, window >= 0, f"window is {window}; 0 is none")
    require_tensor(_SHORT, "qkv", qkv, torch.float32, 3)
    batch, rows, width = qkv.shape
    require(_SHORT, batch == 1, f"the batch is {batch}, not 1")
    wanted = (heads + 2 * key_heads) * dim
    require(_SHORT, width == wanted, f"rows of qkv have {width} numbers, not {wanted}")
    for name, norm in (("query_norm", query_norm), ("key_norm", key_norm)):
        if norm is not None:
            require_tensor(_SHORT, name, norm, torch.float32, 1)
            require(_SHORT, norm.shape[0] == dim, f"{name} has {norm.shape[0]} numbers, not {dim}")
    require_tensor(_SHORT, "table", table, torch.float32, 2)
    require(_SHORT, table.shape[1] == dim, f"table is for heads of {table.shape[1]}, not {dim}")
    by_row = {"table": table, "cache_position": cache_position}
    if visible_until is not None:
        by_row["visible_until"] = visible_until
    for name, tensor in by_row.items():
        if name != "table":
            require_tensor(_SHORT, name, tensor, torch.int64, 1)
        torch._check(tensor.shape[0] == rows, lambda n=name: f"{NAME}: {n} must have S rows")


define(_SHORT, ARGUMENTS, _eager, _fake)
