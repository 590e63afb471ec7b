"""Quantised embedding tables, and ExecuTorch's kernels that read them."""

from __future__ import annotations

import pytest
import torch

from nearside_export.errors import UsageError
from nearside_export.lower import portable
from nearside_export.quantise import embedding_table
from nearside_export.quantise.embedding_table import QuantisedEmbedding, dequantise, quantise
from nearside_export.runtime.wheel import LoadedMethod

SHAPES = [(8, None), (8, 32), (4, 32), (4, None)]


def table() -> torch.Tensor:
    """Rows of very different sizes, one of zeros, one whose largest value is negative."""
    generator = torch.Generator().manual_seed(3)
    weight = torch.randn(40, 64, generator=generator) * torch.logspace(-3, 2, 40)[:, None]
    weight[5] = 0.0
    weight[6, 3] = -4.0 * weight[6].abs().max()
    return weight


@pytest.mark.parametrize(("bits", "group"), SHAPES)
def test_a_value_is_off_by_half_a_step_at_most(bits: int, group: int | None) -> None:
    weight = table()
    ints, scales = quantise(weight, bits, group)
    assert (ints.dtype, ints.shape) == (torch.int8, weight.shape)
    assert scales.shape == (40, 1 if group is None else 64 // group)
    low, high = (-8, 7) if bits == 4 else (-128, 127)
    assert low <= ints.min()
    assert ints.max() <= high
    error = (dequantise(ints, scales) - weight).abs()
    steps = scales.abs().repeat_interleave(64 // scales.shape[1], dim=1)
    inside = (ints > low) & (ints < high)
    assert (error[inside] <= 0.5001 * steps[inside]).all()
    assert (dequantise(ints, scales)[5] == 0).all()


def test_int4_is_nearer_than_scales_of_the_largest_value() -> None:
    weight = table()
    ints, scales = quantise(weight, 4, 32)
    grouped = weight.reshape(40, 2, 32)
    plain = grouped.abs().amax(dim=2, keepdim=True).clamp(min=1e-9) / 7
    rounded = (grouped / plain).round().clamp(-8, 7) * plain
    errors = [
        (w.reshape(40, 64) - weight).square().mean(dim=1)
        for w in (dequantise(ints, scales), rounded)
    ]
    assert errors[0].sum() < 0.9 * errors[1].sum()


@pytest.mark.parametrize(("bits", "group"), SHAPES)
def test_the_kernel_gives_the_rows_that_were_asked_for(bits: int, group: int | None) -> None:
    model = torch.nn.Sequential(torch.nn.Embedding.from_pretrained(table())).eval()
    embedding_table.replace(model, "0", bits, group)
    assert isinstance(model[0], QuantisedEmbedding)
    ids = torch.tensor([[0, 39, 5, 6, 6]])
    want = dequantise(*quantise(table(), bits, group))[ids]
    torch.testing.assert_close(model(ids), want, atol=0, rtol=0)
    torch.testing.assert_close(model(ids[0, 3]), want[0, 3], atol=0, rtol=0)
    lowered = portable.lower({"forward": torch.export.export(model, (ids,))})
    kind = "embedding_4bit" if bits == 4 else "embedding_byte"
    assert lowered.operators == [f"quantized_decomposed::{kind}.out"]
    # The table is in the file once, and not unpacked.
    assert len(lowered.pte) < 40 * 64 * bits // 8 + 40 * 4 * scales_a_row(group) + 2000
    found = torch.from_numpy(LoadedMethod(lowered.pte, "forward").run([ids.numpy()])[0])
    torch.testing.assert_close(found, want, atol=0, rtol=1e-6)


def scales_a_row(group: int | None) -> int:
    return 1 if group is None else 64 // group


@pytest.mark.parametrize(("bits", "group"), [(3, 32), (8, 48), (4, 0), (4, 7)])
def test_what_no_kernel_reads_is_refused(bits: int, group: int) -> None:
    with pytest.raises(UsageError, match="can't"):
        quantise(table(), bits, group)


def test_an_odd_width_has_no_room_for_pairs() -> None:
    with pytest.raises(UsageError, match="even for 4 bits"):
        quantise(torch.ones(2, 3), 4)
