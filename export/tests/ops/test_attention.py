"""``nearside::attention``: what it computes in eager, and what lowering makes of it."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import ExecutorchBackendConfig, to_edge_transform_and_lower
from executorch.exir.passes import MemoryPlanningPass
from torch.nn.functional import scaled_dot_product_attention

from nearside_export.fixtures.attention import MOST_ROWS, WIDTH, Layer
from nearside_export.ops.attention import attention

HEADS, KEY_HEADS, DIM, SLOTS = 6, 2, 8, 24


def tensors(rows: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    heads = (HEADS, KEY_HEADS, KEY_HEADS)
    query, key, value = (torch.randn(1, rows, n, DIM, generator=generator) for n in heads)
    return query, key, value


def caches(seed: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    first, second = (torch.randn(KEY_HEADS, SLOTS, DIM, generator=generator) for _ in range(2))
    return first, second


@pytest.mark.parametrize("window", [0, 1, 5, 100])
@pytest.mark.parametrize("ahead", [None, 0, 3])
def test_it_is_pytorchs_own_attention_over_the_slots_that_are_seen(
    window: int, ahead: int | None
) -> None:
    query, key, value = tensors(7)
    keys, values = caches()
    positions = torch.arange(9, 16)
    until = None if ahead is None else positions + ahead
    want_keys, want_values = keys.clone(), values.clone()
    for row, position in enumerate(positions):
        want_keys[:, position] = key[0, row]
        want_values[:, position] = value[0, row]
    slots = torch.arange(SLOTS)
    last = positions if until is None else until
    seen = slots <= last[:, None]
    if window:
        seen &= slots > positions[:, None] - window
    want = scaled_dot_product_attention(
        query.transpose(1, 2),
        want_keys[None],
        want_values[None],
        attn_mask=seen,
        scale=0.3,
        enable_gqa=True,
    ).transpose(1, 2)

    got = attention(query, key, value, keys, values, positions, until, scale=0.3, window=window)
    torch.testing.assert_close(got, want)
    assert got.is_contiguous()
    assert keys.equal(want_keys)
    assert values.equal(want_values)


@pytest.mark.parametrize("slots", [10, 11, 16, SLOTS])
@pytest.mark.parametrize("ahead", [False, True])
def test_a_ring_gives_what_a_whole_cache_gives(slots: int, ahead: bool) -> None:
    """A window of 6, and calls of at most 5 rows, five times round and more."""
    whole = [torch.zeros(KEY_HEADS, 64, DIM) for _ in range(2)]
    ring = [torch.zeros(KEY_HEADS, slots, DIM) for _ in range(2)]
    start = 0
    for rows in (5, 5, 1, 3, 5, 1, 1, 4, *(5,) * 6):
        positions = torch.arange(start, start + rows)
        until = torch.full_like(positions, start + rows - 1) if ahead else None
        want, got = (
            attention(*tensors(rows, start), *both, positions, until, scale=0.3, window=6)
            for both in (whole, ring)
        )
        torch.testing.assert_close(got, want)
        start += rows
    for position in range(start - min(slots, 64), start):
        assert ring[0][:, position % slots].equal(whole[0][:, position])


def test_the_caches_stay_plain_buffers_where_gradients_are_kept() -> None:
    layer = Layer()
    layer(torch.ones(1, 2, WIDTH), torch.arange(2))
    assert layer.key_cache.is_leaf
    assert not layer.value_cache.requires_grad
    assert layer.key_cache.any()


def test_the_definition_is_sound() -> None:
    arguments = (*tensors(3), *caches(), torch.arange(3), None, 0.5, 0)
    checks = ("test_schema", "test_faketensor")
    torch.library.opcheck(torch.ops.nearside.attention.default, arguments, test_utils=checks)
    until = torch.tensor([2, 2, 2])
    arguments = (*tensors(3), *caches(), torch.arange(3), until, 0.5, 2)
    torch.library.opcheck(torch.ops.nearside.attention.default, arguments, test_utils=checks)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"cache_position": torch.tensor([0, 24, 1])}, "not within 0 to 23"),
        ({"cache_position": torch.tensor([-1, 0, 1])}, "not within 0 to 23"),
        ({"cache_position": torch.tensor([0, 1])}, "one number a row"),
        ({"cache_position": torch.arange(3, dtype=torch.int32)}, "int32, not int64"),
        ({"visible_until": torch.tensor([0, 0, 2])}, "visible_until"),
        ({"visible_until": torch.tensor([24, 24, 24])}, "visible_until"),
        ({"query": torch.zeros(1, 3, 5, DIM)}, "5 query heads can't share 2 key heads"),
        ({"query": torch.zeros(2, 3, HEADS, DIM)}, "the batch is 2"),
        ({"key": torch.zeros(1, 2, KEY_HEADS, DIM)}, "key must be"),
        ({"key_cache": torch.zeros(KEY_HEADS, SLOTS, 4)}, "the caches have shapes"),
        ({"value": torch.zeros(1, 3, KEY_HEADS, DIM, dtype=torch.float64)}, "float64"),
        ({"window": -1}, "window is -1"),
        ({"cache_position": torch.arange(40, 43), "window": 23}, "more than the cache's 24 slots"),
        ({"cache_position": torch.arange(-1, 2), "window": 4}, "is not from 0 on"),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(change: dict, problem: str) -> None:
    query, key, value = tensors(3)
    keys, values = caches()
    given = {
        "query": query,
        "key": key,
        "value": value,
        "key_cache": keys,
        "value_cache": values,
        "cache_position": torch.arange(3),
        "scale": 1.0,
        **change,
    }
    before = given["key_cache"].clone()
    with pytest.raises(RuntimeError, match=problem):
        attention(**given)
    assert given["key_cache"].equal(before)


@pytest.mark.parametrize("shared", [False, True], ids=["alone", "shared"])
def test_lowering_leaves_one_call_that_writes_the_buffers_themselves(shared: bool) -> None:
    rows = torch.export.Dim("rows", min=1, max=MOST_ROWS)
    layer = Layer()
    example = (torch.zeros(1, 3, WIDTH), torch.arange(3))
    prefill = torch.export.export(layer, example, dynamic_shapes=({1: rows}, {0: rows}))
    decode = torch.export.export(layer, (torch.zeros(1, 1, WIDTH), torch.zeros(1).long()))
    edge = to_edge_transform_and_lower(
        {"prefill": prefill, "decode": decode}, partitioner=[XnnpackPartitioner()]
    )
    planning = MemoryPlanningPass(alloc_graph_input=False, share_mutable_buffers=shared)
    program = edge.to_executorch(
        ExecutorchBackendConfig(memory_planning_pass=planning, emit_mutable_buffer_names=True)
    ).executorch_program
    for plan in program.execution_plan:
        names = [f"{operator.name}.{operator.overload}" for operator in plan.operators]
        calls = [
            call
            for call in (i.instr_args for i in plan.chains[0].instructions)
            if hasattr(call, "op_index")
        ]
        counts = Counter(names[call.op_index] for call in calls)
        assert counts["nearside::attention.out"] == 1
        assert set(counts) <= {
            "nearside::attention.out",
            "executorch_prim::et_view.default",
            "aten::sym_size.int",
        }
        (call,) = (c for c in calls if names[c.op_index] == "nearside::attention.out")
        buffers = [plan.values[at].val for at in call.args[3:5]]
        infos = [buffer.extra_tensor_info.fully_qualified_name for buffer in buffers]
        assert infos == ["key_cache", "value_cache"]
        memories = {buffer.allocation_info.memory_id for buffer in buffers}
        assert memories == ({2} if shared else {1})
