"""Quantisers that tell shapes only: the right ones, and the program stays what it was."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from nearside_export.architectures.decoder import export, families, weights
from nearside_export.lower import quantiser_shapes, xnnpack
from nearside_export.quantise import decoder
from nearside_export.recipes import tiny_decoder
from nearside_export.sources.language import open_source

torch.set_num_threads(1)


def shapes(size: tuple[int, ...], block: list[int]) -> list[tuple[torch.Size, torch.dtype]]:
    ops = torch.ops.torchao
    with FakeTensorMode():
        x = torch.empty(size)
        scale, zero = ops.choose_qparams_affine(
            x, "ASYMMETRIC", block, torch.int8, -128, 127, None, torch.float32, torch.int8
        )
        ints = ops.quantize_affine(x, block, scale, zero, torch.int8, -128, 127)
        back = ops.dequantize_affine(ints, block, scale, zero, torch.int8, -128, 127)
    return [(t.shape, t.dtype) for t in (scale, zero, ints, back)]


@pytest.mark.parametrize(
    ("size", "block"),
    [((1, 4, 8), [1, 1, 8]), ((3, 8), [1, 8]), ((3, 8), [3, 8]), ((2, 8), [1, 4])],
)
def test_shapes_and_kinds_are_those_of_what_is_computed(
    size: tuple[int, ...], block: list[int]
) -> None:
    computed = shapes(size, block)
    with quantiser_shapes.told_at_once():
        assert shapes(size, block) == computed


def test_outside_of_the_block_and_of_fake_tensors_values_are_computed() -> None:
    def quantised() -> torch.Tensor:
        x, scale = torch.tensor([[1.0, -2.0]]), torch.tensor([0.5])
        zero = torch.zeros(1, dtype=torch.int8)
        return torch.ops.torchao.quantize_affine(x, [1, 2], scale, zero, torch.int8, -128, 127)

    with quantiser_shapes.told_at_once():
        assert quantised().tolist() == [[2, -4]]
    assert quantised().tolist() == [[2, -4]]


def test_the_program_is_the_same_byte_for_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny_decoder.llama(tmp_path)
    source = open_source(tmp_path)
    told = []

    def lowered() -> bytes:
        model = weights.load(families.read(source.config), source.tensors, 32)
        decoder.apply(
            model,
            decoder.SCHEMES["8da4w"],
            source.tensors,
            rounding="nearest",
            texts=lambda: decoder.Calibration(torch.arange(16)[None], torch.arange(16)[None]),
        )
        program = export.export(model, 8)
        return xnnpack.lower_methods({"forward": program}).pte

    for name, function in quantiser_shapes._TOLD.items():

        def seen(*args: object, name: str = name, function: object = function) -> object:
            told.append(name)
            return function(*args)

        monkeypatch.setitem(quantiser_shapes._TOLD, name, seen)
    quantiser_shapes._install.cache_clear()
    ours = lowered()
    assert set(told) == set(quantiser_shapes._TOLD)
    monkeypatch.setattr(quantiser_shapes, "told_at_once", nullcontext)
    told.clear()
    assert lowered() == ours
    assert told == []
