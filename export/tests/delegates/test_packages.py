"""Packages of several variants and delegates, as their real runtimes run them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from nearside_export.architectures.tiny_colour import TINY_COLOUR
from nearside_export.cli import main
from nearside_export.manifest import ClassifyGate, Manifest
from nearside_export.package import check_files
from nearside_export.runtime import nearside
from nearside_export.runtime.wheel import LoadedMethod

torch.set_num_threads(1)


def test_a_classifier_for_two_delegates_is_one_package(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["classify", "tiny-classifier", "--variant", "fp32", "--delegate", "xnnpack,portable"]
    assert main([*command, "--external-weights", "--out", str(tmp_path)]) == 0
    package = tmp_path / "tiny-classifier-fp32.nearside"
    manifest = Manifest.read(package)
    check_files(package, manifest)
    xnnpack, portable = manifest.variants
    assert (xnnpack.name, portable.name) == ("xnnpack-fp32", "portable-fp32")
    assert (xnnpack.delegates, portable.delegates) == (["XnnpackBackend"], [])
    assert portable.coverage == 0.0 < xnnpack.coverage
    assert {"aten::convolution.out", "aten::mean.out"} <= set(portable.operators)
    assert xnnpack.external_data == portable.external_data
    picture = np.random.default_rng(3).random((1, 3, 32, 32), dtype=np.float32)
    data = package / portable.external_data[0].path
    with torch.no_grad():
        want = TINY_COLOUR.load()(torch.from_numpy(picture)).numpy()
    for variant in (xnnpack, portable):
        (got,) = LoadedMethod(package / variant.program.path, "forward", data).run([picture])
        np.testing.assert_allclose(got, want, atol=1e-5)
        assert variant.quality.top1_agreement == 1.0
    assert main(["verify", str(package)]) == 0
    assert "portable-fp32:" in capsys.readouterr().out
    assert main(["classify", "tiny-classifier", "--variant", "fp32", "--out", str(tmp_path)]) == 1
    assert "--variant xnnpack-fp32,portable-fp32" in capsys.readouterr().err
    assert Manifest.read(package) == manifest


def test_a_language_model_keeps_what_its_variants_share_once(
    tmp_path: Path, nearside_cli: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tiny = tmp_path / "tiny"
    assert main(["tiny", "llama", "--out", str(tiny)]) == 0
    options = ["--variant", "fp32,8da4w,portable-fp32", "--rounding", "nearest"]
    options += ["--max-prefill", "8", "--external-weights"]
    assert main(["generate", str(tiny), *options, "--out", str(tmp_path)]) == 0
    package = tmp_path / "tiny.nearside"
    manifest = Manifest.read(package)
    check_files(package, manifest)
    variants = {v.name: v for v in manifest.variants}
    assert list(variants) == ["xnnpack-fp32", "xnnpack-8da4w", "portable-fp32"]
    assert [v.rounding for v in manifest.variants] == [None, "nearest", None]
    assert variants["portable-fp32"].delegates == []
    (data,) = {file.path for v in manifest.variants for file in v.external_data}
    assert {p.name for p in package.iterdir()} == {
        "manifest.json",
        *(f.path for f in manifest.files()),
    }
    calls = [np.array([[7, 300, 9]]), np.arange(3)]
    found = {}
    for name, variant in variants.items():
        files = package / variant.program.path, package / data
        (found[name],) = LoadedMethod(files[0], "forward", files[1]).run(calls)
        with nearside.Program(files[0], [files[1]], cli=nearside_cli) as program:
            np.testing.assert_allclose(program.method().run(calls)[0], found[name], atol=1e-4)
    np.testing.assert_allclose(found["portable-fp32"], found["xnnpack-fp32"], atol=1e-4)
    assert np.abs(found["xnnpack-8da4w"] - found["xnnpack-fp32"]).max() > 0.01
    assert main(["verify", str(package), "--source", str(tiny)]) == 0
    capsys.readouterr()


def test_one_variant_below_its_gate_leaves_nothing_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(TINY_COLOUR.gates, "int8", ClassifyGate(top1_agreement=1.01))
    command = ["classify", "tiny-classifier", "--variant", "portable-fp32,int8"]
    assert main([*command, "--out", str(tmp_path)]) == 1
    assert "variant xnnpack-int8 is below its quality gate" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
