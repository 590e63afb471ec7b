"""Weights in a file beside the program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from executorch.extension.flat_tensor.serialize.serialize import FlatTensorSerializer

from nearside_export.lower import external_weights, xnnpack
from nearside_export.lower.program import LoweredProgram
from nearside_export.runtime import Array, nearside
from nearside_export.runtime.wheel import LoadedMethod

IDS = np.array([0, 63, 3])


class Tied(torch.nn.Module):
    """Ids to the products of rows of ``scale`` times a table with ``weight``."""

    def __init__(self, table: torch.Tensor, weight: torch.Tensor, scale: float) -> None:
        super().__init__()
        self.table = torch.nn.Embedding.from_pretrained(table * scale)
        self.head = torch.nn.Linear(*weight.shape[::-1], bias=False)
        self.head.weight = torch.nn.Parameter(weight)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(torch.sin(self.table(ids)))


TABLE = torch.randn(64, 16, generator=torch.Generator().manual_seed(2))


def lower(*, outside: bool, **scales: float) -> LoweredProgram:
    """A method of each name, over a table that many times larger than the head's weight."""
    ids = (torch.from_numpy(IDS),)
    programs = {
        name: torch.export.export(Tied(TABLE, TABLE, scale).eval(), ids)
        for name, scale in scales.items()
    }
    return xnnpack.lower_methods(programs, method=next(iter(scales)), weights_outside=outside)


def stored(data: bytes) -> dict[str, bytes]:
    payload = FlatTensorSerializer().deserialize(data)
    return {key: payload.buffers[entry.buffer_index] for key, entry in payload.named_data.items()}


def write(folder: Path, data: bytes) -> Path:
    file = folder / "weights.ptd"
    file.write_bytes(data)
    return file


def run(pte: bytes, data: Sequence[Path], method: str, cli: Path) -> list[Array]:
    """By ExecuTorch's runtime and by ours."""
    (first,) = LoadedMethod(pte, method, data[0] if data else None).run([IDS])
    with nearside.Program(pte, data, cli=cli) as program:
        (second,) = program.method(method).run([IDS])
    return [first, second]


def test_all_weights_are_in_the_file_each_once(tmp_path: Path, nearside_cli: Path) -> None:
    inside = lower(outside=False, forward=1.0)
    outside = lower(outside=True, forward=1.0)
    assert inside.data == {}
    assert list(outside.data) == ["weights.ptd"]
    raw = TABLE.numpy().tobytes()
    (data,) = outside.data.values()
    # Two names, of a tensor and of XNNPACK's weight, for the same bytes.
    assert list(stored(data).values()) == [raw, raw]
    assert (data.count(raw), outside.pte.count(raw), inside.pte.count(raw)) == (1, 0, 1)
    got = run(outside.pte, [write(tmp_path, data)], "forward", nearside_cli)
    np.testing.assert_array_equal(got, run(inside.pte, [], "forward", nearside_cli))


def test_methods_whose_tensors_have_one_name_keep_their_own(
    tmp_path: Path, nearside_cli: Path
) -> None:
    scales = {"one": 1.0, "two": 2.0}
    outside = lower(outside=True, **scales)
    file = write(tmp_path, *outside.data.values())
    for method, scale in scales.items():
        model = Tied(TABLE, TABLE, scale)
        with torch.no_grad():
            want = model(torch.from_numpy(IDS)).numpy()
        for got in run(outside.pte, [file], method, nearside_cli):
            np.testing.assert_allclose(got, want, atol=1e-5)


def test_variants_share_a_file(tmp_path: Path, nearside_cli: Path) -> None:
    variants = [lower(outside=True, forward=scale) for scale in (1.0, 3.0)]
    files = [next(iter(v.data.values())) for v in variants]
    merged = external_weights.merge(files)
    assert stored(merged) == {**stored(files[0]), **stored(files[1])}
    assert merged.count(TABLE.numpy().tobytes()) == 1
    assert external_weights.merge([merged, *files]) == merged
    shared = write(tmp_path, merged)
    for variant, own in zip(variants, files, strict=True):
        alone = tmp_path / "own.ptd"
        alone.write_bytes(own)
        want = run(variant.pte, [alone], "forward", nearside_cli)
        np.testing.assert_array_equal(run(variant.pte, [shared], "forward", nearside_cli), want)
    with pytest.raises(ValueError, match="Duplicate key"):
        external_weights.merge([files[0], renamed(files[1], next(iter(stored(files[0]))))])


def renamed(data: bytes, name: str) -> bytes:
    """The file with its first entry under the name ``name``, of the same length."""
    first = next(key for key in stored(data) if len(key) == len(name))
    return data.replace(first.encode(), name.encode())
