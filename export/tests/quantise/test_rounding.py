"""Weights as integers: each way of rounding, and layers that hold them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from nearside_export.quantise import integer_linear
from nearside_export.quantise.integer_linear import LIMITS, Rounded
from nearside_export.quantise.rounding import gptq, hqq, nearest, source
from nearside_export.quantise.rounding.grid import asymmetric
from nearside_export.sources.model import QuantisedBlocks


def weight(rows: int = 48, columns: int = 128) -> torch.Tensor:
    """Uneven columns, as trained weights have."""
    generator = torch.Generator().manual_seed(3)
    spread = 0.2 + torch.rand(columns, generator=generator)
    return torch.randn(rows, columns, generator=generator) * spread


def inputs(columns: int = 128) -> torch.Tensor:
    """Correlated activations f32 ``[512, columns]``, a few columns much larger than the rest."""
    generator = torch.Generator().manual_seed(4)
    mix = torch.randn(24, columns, generator=generator)
    values = torch.randn(512, 24, generator=generator) @ mix
    values[:, ::17] *= 6
    return values + 0.3 * torch.randn(512, columns, generator=generator)


def is_sound(found: Rounded, group_size: int) -> None:
    low, high = LIMITS[found.bits]
    assert found.ints.dtype == torch.int8
    assert int(found.ints.min()) >= low
    assert int(found.ints.max()) <= high
    assert found.group_size == group_size
    assert bool((found.scales > 0).all())
    if found.offsets is not None:
        assert found.offsets.shape == found.scales.shape
    if found.bits == 4:
        assert torch.equal(found.scales.bfloat16().float(), found.scales)


def ways(group_size: int) -> dict[str, Callable[[torch.Tensor, torch.Tensor], Rounded]]:
    """Every way, from a weight and its inputs."""
    return {
        "nearest": lambda w, _: nearest.groups(w, group_size),
        "hqq": lambda w, _: hqq.groups(w, group_size),
        "gptq": lambda w, x: gptq.groups(w, x.t() @ x, group_size),
        "nearest-asymmetric": lambda w, _: nearest.groups(w, group_size, asymmetric),
        "hqq-asymmetric": lambda w, _: hqq.asymmetric_groups(w, group_size),
        "gptq-asymmetric": lambda w, x: gptq.groups(w, x.t() @ x, group_size, asymmetric),
    }


def output_error(found: Rounded, w: torch.Tensor, x: torch.Tensor) -> float:
    """Share of the output's squares that is wrong."""
    off = (x @ (found.dequantise() - w).t()).square().mean()
    return float(off / (x @ w.t()).square().mean())


@pytest.mark.parametrize("group_size", [32, 64, 128])
@pytest.mark.parametrize("way", ways(32))
def test_int4_is_near_the_weight(way: str, group_size: int) -> None:
    w, x = weight(), inputs()
    found = ways(group_size)[way](w, x)
    is_sound(found, group_size)
    assert output_error(found, w, x) < 0.02
    assert (found.offsets is not None) == way.endswith("asymmetric")


@pytest.mark.parametrize("way", ["nearest", "hqq", "gptq"])
def test_offsets_help_weights_that_lie_aside_of_zero(way: str) -> None:
    w, x = weight() + torch.randn(48, 4).repeat_interleave(32, 1), inputs()
    plain, offset = (
        output_error(ways(32)[name](w, x), w, x) for name in (way, f"{way}-asymmetric")
    )
    assert offset < 0.6 * plain


def test_the_best_line_is_found_where_weights_lie_on_one() -> None:
    generator = torch.Generator().manual_seed(6)
    ints = torch.randint(-8, 8, (6, 64), generator=generator).float()
    ints[:, ::32], ints[:, 1::32] = -8, 7
    scales, offsets = torch.tensor([0.5, 0.25]), torch.tensor([3.0, -1.0])
    w = ints * scales.repeat_interleave(32) + offsets.repeat_interleave(32)
    found = nearest.groups(w, 32, asymmetric)
    assert (found.dequantise() - w).abs().max() < 1e-5


def test_gptq_is_better_on_the_inputs_than_plain_rounding() -> None:
    w, x = weight(), inputs()

    def error(found: Rounded) -> float:
        return float((x @ (found.dequantise() - w).t()).square().sum())

    assert error(gptq.groups(w, x.t() @ x, 32)) < 0.5 * error(nearest.groups(w, 32))


def test_gptq_bears_inputs_that_are_always_zero() -> None:
    x = inputs()
    x[:, 5] = 0
    is_sound(gptq.groups(weight(), x.t() @ x, 32), 32)


def test_int8_has_a_scale_a_row() -> None:
    w = weight()
    found = nearest.rows(w)
    is_sound(found, w.shape[1])
    assert (found.dequantise() - w).abs().max() <= found.scales.max() / 2 + 1e-6


def test_zeros_keep_a_scale_that_xnnpack_takes() -> None:
    zeros, x = torch.zeros(4, 128), inputs()
    for found in (nearest.rows(zeros), *(way(zeros, x) for way in ways(32).values())):
        assert bool((found.scales >= torch.finfo(torch.float32).tiny).all())
        assert not found.dequantise().any()


def blocks(kind: str) -> QuantisedBlocks:
    """Blocks with scales of both signs, one of zero, that take the whole range of integers."""
    generator = torch.Generator().manual_seed(5)
    ints = torch.randint(-8, 8, (6, 64), generator=generator, dtype=torch.int8)
    ints[:, :2] = torch.tensor([-8, 7])
    scales = (torch.rand(6, 2, generator=generator) - 0.5).half().float()
    scales[2, 1] = 0.0
    offsets = torch.randn(6, 2, generator=generator) if kind == "q4_1" else None
    return QuantisedBlocks(kind, 4, 32, ints, scales, offsets)


@pytest.mark.parametrize("kind", ["q4_0", "q4_1"])
def test_the_sources_integers_are_taken_over(kind: str) -> None:
    held = blocks(kind)
    want = held.ints * held.scales.repeat_interleave(32, 1)
    if held.offsets is not None:
        want = want + held.offsets.repeat_interleave(32, 1)
    found = source.groups(held, 32)
    assert found is not None
    is_sound(found, 32)
    assert found.offsets is not None
    # bfloat16 keeps 8 bits of a scale; integers reach 8.
    assert (found.dequantise() - want).abs().max() <= 0.5 * 8 / 256
    again = nearest.groups(want, 32).dequantise()
    assert (found.dequantise() - want).square().sum() < 0.05 * (again - want).square().sum()


def test_other_blocks_are_not_taken_over() -> None:
    held = blocks("q4_0")
    assert source.groups(held, 64) is None
    eight = QuantisedBlocks("q8_0", 8, 32, held.ints, held.scales)
    assert source.groups(eight, 32) is None


def test_an_installed_weight_works_as_its_values_do() -> None:
    held = source.groups(blocks("q4_1"), 32)
    assert held is not None
    model = torch.nn.Sequential(torch.nn.Linear(64, 6))
    x = inputs(64)
    want = torch.nn.functional.linear(
        integer_linear.quantised_activations(x), held.dequantise(), model[0].bias
    )
    integer_linear.install(model, "0", held)
    assert isinstance(model[0], integer_linear.OffsetLinear)
    with torch.no_grad():
        got = model(x)
    # The offsets see the activations before they are rounded.
    assert (got - want).abs().max() < 0.05 * want.abs().max()
