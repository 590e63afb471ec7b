"""``nearside::linear`` and ``nearside::embedding``: what they compute in eager."""

from __future__ import annotations

import pytest
import torch
from test_packed import KINDS, weight

from nearside_export.ops import packed
from nearside_export.ops.embedding import embedding
from nearside_export.ops.linear import linear, quantised

ROWS, COLUMNS = 37, 96


def activations(rows: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(1, rows, COLUMNS, generator=generator) * torch.logspace(-2, 2, COLUMNS)


@pytest.mark.parametrize(("bits", "offsets"), KINDS)
def test_it_is_the_product_of_the_rounded_rows_and_the_weight(bits: int, offsets: bool) -> None:
    given = weight(bits, ROWS, COLUMNS, offsets=offsets)
    x, bias = activations(5), torch.randn(ROWS)
    ints, scales = quantised(x[0])
    rounded = (ints * scales[..., None]).reshape(5, COLUMNS).double()
    want = rounded @ given.dequantise().double().t() + bias
    got = linear(x, packed.pack(given), bias, rows=ROWS, bits=bits)
    assert list(got.shape) == [1, 5, ROWS]
    torch.testing.assert_close(got[0], want.float(), rtol=1e-5, atol=1e-4)


def test_a_row_is_rounded_in_blocks_of_32_to_nearest_and_halves_to_even() -> None:
    x = torch.zeros(2, 64)
    x[0, :4] = torch.tensor([127.0, 0.5, 1.5, -2.5])
    x[0, 32] = -254.0
    ints, scales = quantised(x)
    assert scales.tolist() == [[1.0, 2.0], [0.0, 0.0]]
    assert ints[0, 0, :4].tolist() == [127.0, 0.0, 2.0, -2.0]
    assert ints[0, 1, 0] == -127.0
    assert not ints[1].any()


@pytest.mark.parametrize(("bits", "offsets"), KINDS)
def test_a_row_is_what_it_is_alone(bits: int, offsets: bool) -> None:
    bytes_ = packed.pack(weight(bits, ROWS, COLUMNS, offsets=offsets))
    x = activations(6)
    whole = linear(x, bytes_, None, rows=ROWS, bits=bits)
    for row in range(6):
        alone = linear(x[:, row : row + 1], bytes_, None, rows=ROWS, bits=bits)
        assert alone[0, 0].equal(whole[0, row])


def test_a_row_that_is_not_finite_gives_nothing_that_looks_like_a_result() -> None:
    bytes_ = packed.pack(weight(8, ROWS, COLUMNS))
    x = activations(2)
    x[0, 0, 40] = torch.inf
    got = linear(x, bytes_, None, rows=ROWS, bits=8)
    assert got[0, 0].isnan().all()
    assert got[0, 1].isfinite().all()


def test_a_weight_or_bias_that_does_not_fit_is_refused() -> None:
    bytes_ = packed.pack(weight(8, ROWS, COLUMNS))
    with pytest.raises(RuntimeError, match=r"weight is \[3, 1600\], not \[4, 1600\]"):
        linear(activations(1), bytes_, None, rows=49, bits=8)
    with pytest.raises(RuntimeError, match="bias has 3 numbers, not 37"):
        linear(activations(1), bytes_, torch.zeros(3), rows=ROWS, bits=8)
    with pytest.raises(RuntimeError, match=r"x is torch\.float64"):
        linear(activations(1).double(), bytes_, None, rows=ROWS, bits=8)


@pytest.mark.parametrize(("bits", "offsets"), KINDS)
def test_a_token_is_its_row_of_the_table_times_the_scale(bits: int, offsets: bool) -> None:
    given = weight(bits, ROWS, COLUMNS, offsets=offsets)
    tokens = torch.tensor([[36, 0, 15, 16, 16]])
    got = embedding(tokens, packed.pack(given), columns=COLUMNS, bits=bits, scale=3.0)
    torch.testing.assert_close(got[0], 3.0 * given.dequantise()[tokens[0]])


@pytest.mark.parametrize("token", [-1, 48])
def test_a_token_that_the_table_has_not_is_refused(token: int) -> None:
    bytes_ = packed.pack(weight(8, ROWS, COLUMNS))
    with pytest.raises(RuntimeError, match="are not all within 0 to 47"):
        embedding(torch.tensor([[token]]), bytes_, columns=COLUMNS, bits=8)
