"""``nearside::rotary_attention`` and what else a layer is made of, in eager."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from nearside_export.architectures.decoder import rope
from nearside_export.architectures.decoder.config import Rope
from nearside_export.architectures.decoder.norm import RmsNorm
from nearside_export.ops import cache
from nearside_export.ops.add_rms_norm import add_rms_norm
from nearside_export.ops.attention import attention
from nearside_export.ops.gated import gated
from nearside_export.ops.rms_norm import rms_norm
from nearside_export.ops.rope_table import rope_table
from nearside_export.ops.rotary_attention import rotary_attention

HEADS, KEY_HEADS, DIM, SLOTS, EPS = 6, 2, 8, 24, 1e-5
WIDTH = (HEADS + 2 * KEY_HEADS) * DIM
LIMITS = {"f32": 1e-5, "f16": 2e-3, "int8": 2e-2}
"""How far a cache's type takes the result from the one of f32."""


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def caches(kind: str, slots: int = SLOTS) -> tuple[torch.Tensor, torch.Tensor]:
    shape = (KEY_HEADS, slots, cache.row(kind, DIM))
    first, second = (torch.zeros(shape, dtype=cache.DTYPES[kind]) for _ in range(2))
    return first, second


def table(positions: torch.Tensor) -> torch.Tensor:
    return rope_table(positions, rope.inverse_frequencies(Rope(theta=10_000.0), DIM))


@pytest.mark.parametrize("kind", cache.DTYPES)
@pytest.mark.parametrize("normed", [False, True])
@pytest.mark.parametrize("window", [0, 5])
def test_it_is_the_decoders_rotation_and_norms_before_attention(
    kind: str, normed: bool, window: int
) -> None:
    norm = RmsNorm(DIM, EPS)
    norm.weight.data = random(DIM, seed=9)
    frequencies = rope.inverse_frequencies(Rope(theta=10_000.0), DIM)
    whole, plain = caches(kind), caches("f32")
    for start, rows in ((0, 7), (7, 1), (8, 4)):
        positions = torch.arange(start, start + rows)
        qkv = random(1, rows, WIDTH, seed=start)
        query, key, value = (
            part.reshape(1, rows, -1, DIM)
            for part in qkv.split((HEADS * DIM, KEY_HEADS * DIM, KEY_HEADS * DIM), dim=2)
        )
        if normed:
            query, key = norm(query), norm(key)
        cos, sin = rope.tables(positions, frequencies)
        turn = rope.half_turn(DIM)
        query, key = (rope.rotate(x, cos, sin, turn).detach() for x in (query, key))
        want = attention(query, key, value, *plain, positions, scale=0.3, window=window)
        got = rotary_attention(
            qkv,
            (norm.weight, norm.weight) if normed else None,
            table(positions),
            whole,
            positions,
            heads=HEADS,
            scale=0.3,
            window=window,
            eps=EPS,
        )
        assert list(got.shape) == [1, rows, HEADS * DIM]
        limit = LIMITS[kind]
        torch.testing.assert_close(got, want.flatten(2), rtol=limit, atol=limit)
    for found, wanted in zip(whole, plain, strict=True):
        torch.testing.assert_close(cache.read(found), wanted, rtol=LIMITS[kind], atol=LIMITS[kind])


def test_a_cache_of_bytes_has_its_integers_first_and_a_scale_a_row_after_them() -> None:
    store = torch.zeros(KEY_HEADS, SLOTS, DIM + 4, dtype=torch.uint8)
    rows = random(2, KEY_HEADS, DIM)
    cache.write(store, torch.tensor([3, 20]), rows)
    for head in range(KEY_HEADS):
        bytes_ = store[head].flatten()
        scale = bytes_[SLOTS * DIM + 4 * 20 :][:4].clone().view(torch.float32)
        largest = rows[1, head].abs().max()
        assert float(scale) == float(largest / 127)
        ints = bytes_[20 * DIM : 21 * DIM].clone().view(torch.int8)
        assert ints.tolist() == (rows[1, head] / scale).round().tolist()
    assert not cache.read(store)[:, 4].any()


@pytest.mark.parametrize("kind", cache.DTYPES)
def test_a_ring_gives_what_a_whole_cache_gives(kind: str) -> None:
    whole, ring = caches(kind, 64), caches(kind, 11)
    start = 0
    for rows in (5, 1, 5, 3, 1, 5, 5, 5, 5):
        positions = torch.arange(start, start + rows)
        want, got = (
            rotary_attention(
                random(1, rows, WIDTH, seed=start),
                None,
                table(positions),
                both,
                positions,
                heads=HEADS,
                scale=0.3,
                window=6,
            )
            for both in (whole, ring)
        )
        torch.testing.assert_close(got, want)
        start += rows


def test_what_does_not_fit_together_is_refused() -> None:
    positions = torch.arange(2)
    with pytest.raises(RuntimeError, match="rows of qkv have 80 numbers, not 64"):
        rotary_attention(
            random(1, 2, WIDTH), None, table(positions), caches("f32"), positions, heads=4, scale=1
        )
    with pytest.raises(RuntimeError, match="more than the cache's 4 slots"):
        rotary_attention(
            random(1, 2, WIDTH),
            None,
            table(positions),
            caches("int8", 4),
            positions + 8,
            heads=HEADS,
            scale=1,
            window=6,
        )


def test_the_norm_is_the_decoders_and_the_sum_goes_with_it() -> None:
    norm = RmsNorm(24, EPS)
    norm.weight.data = random(24)
    x, delta = random(1, 3, 24, seed=1), random(1, 3, 24, seed=2)
    torch.testing.assert_close(rms_norm(x, norm.weight, eps=EPS), norm(x).detach())
    total, normed = add_rms_norm(x, delta, norm.weight, eps=EPS)
    assert total.equal(x + delta)
    torch.testing.assert_close(normed, norm(x + delta).detach())


def test_the_gate_comes_first() -> None:
    x = random(1, 3, 20)
    gate, up = x[..., :10], x[..., 10:]
    torch.testing.assert_close(gated(x, "silu"), functional.silu(gate) * up)
    want = functional.gelu(gate, approximate="tanh") * up
    torch.testing.assert_close(gated(x, "gelu_tanh"), want)
    with pytest.raises(RuntimeError, match="unknown activation 'relu'; known: silu, gelu_tanh"):
        gated(x, "relu")
