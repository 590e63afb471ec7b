"""Weights in a file beside the program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from executorch.extension.flat_tensor.serialize.serialize import FlatTensorSerializer

from nearside_export.cli import main
from nearside_export.lower import external_weights, xnnpack
from nearside_export.lower.program import LoweredProgram
from nearside_export.manifest import Manifest
from nearside_export.package import check_files
from nearside_export.runtime import Array, nearside
from nearside_export.runtime.wheel import LoadedMethod
from nearside_export.tasks import data_files

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


def test_a_constant_can_have_another_file(tmp_path: Path, nearside_cli: Path) -> None:
    ids = (torch.from_numpy(IDS),)
    program = torch.export.export(Tied(TABLE, -TABLE, 1.0).eval(), ids)
    lowered = xnnpack.lower_methods(
        {"forward": program},
        external=lambda node: "rows" if "table" in node.name else None,
        weights_outside=True,
    )
    contents = {name: list(stored(data).values()) for name, data in lowered.data.items()}
    raw = [t.numpy().tobytes() for t in (TABLE, -TABLE)]
    assert contents == {"rows.ptd": raw[:1], "weights.ptd": raw[1:]}
    files = [tmp_path / ref.path for ref in data_files.write(tmp_path, lowered)]
    # Our runtime takes both; the wheel's takes one, which has both then.
    with nearside.Program(lowered.pte, files, cli=nearside_cli) as loaded:
        want = loaded.method().run([IDS])
    with data_files.as_one(files) as file:
        np.testing.assert_array_equal(LoadedMethod(lowered.pte, "forward", file).run([IDS]), want)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["rows.ptd", "weights.ptd"]


def test_weights_are_mapped_not_read(tmp_path: Path, nearside_cli: Path) -> None:
    table = torch.zeros(1 << 16, 64)
    table[-1] = 1.0
    model = Tied(table, TABLE[:, :1].repeat(1, 64), 1.0).eval()
    ids = torch.tensor([0, len(table) - 1])
    lowered = xnnpack.lower(torch.export.export(model, (ids,)), weights_outside=True)
    file = write(tmp_path, *lowered.data.values())
    assert file.stat().st_size > table.nbytes
    with nearside.Program(lowered.pte, [file], cli=nearside_cli) as loaded:
        (got,) = loaded.method().run([ids.numpy()])
        report = loaded.report()
    np.testing.assert_allclose(got, model(ids).detach().numpy(), atol=1e-4)
    if report.start_bytes is not None and report.peak_bytes is not None:
        assert report.peak_bytes - report.start_bytes < table.nbytes / 2


def test_variants_of_a_classifier_share_their_file(tmp_path: Path, nearside_cli: Path) -> None:
    command = ["classify", "tiny-classifier", "--variant", "all", "--out", str(tmp_path)]
    assert main([*command, "--external-weights"]) == 0
    package = tmp_path / "tiny-classifier.nearside"
    manifest = Manifest.read(package)
    check_files(package, manifest)
    int8, fp32 = manifest.variants
    assert int8.external_data == fp32.external_data
    assert [d.path for d in fp32.external_data] == ["weights.ptd"]
    assert fp32.bytes == sum(
        (package / f).stat().st_size for f in (fp32.program.path, "weights.ptd")
    )
    assert fp32.export_command == (
        "nearside-export classify tiny-classifier --variant all --external-weights"
    )
    image = torch.rand(1, 3, 32, 32, generator=torch.Generator().manual_seed(3)).numpy()
    for variant in (int8, fp32):
        pte = (package / variant.program.path).read_bytes()
        (want,) = LoadedMethod(pte, "forward", package / "weights.ptd").run([image])
        with nearside.Program(package, variant=variant.name, cli=nearside_cli) as loaded:
            (got,) = loaded.method().run([image])
        np.testing.assert_array_equal(got, want)


def renamed(data: bytes, name: str) -> bytes:
    """The file with its first entry under the name ``name``, of the same length."""
    first = next(key for key in stored(data) if len(key) == len(name))
    return data.replace(first.encode(), name.encode())
