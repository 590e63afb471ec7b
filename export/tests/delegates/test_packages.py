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
from nearside_export.runtime import nearside, wheel
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
    assert main(["classify", "tiny-classifier", "--variant", "fp32", "--out", str(tmp_path)]) == 1
    assert "--variant xnnpack-fp32,portable-fp32" in capsys.readouterr().err
    assert Manifest.read(package) == manifest


def test_a_language_models_variants_share_one_data_file(tmp_path: Path, nearside_cli: Path) -> None:
    tiny = tmp_path / "tiny"
    assert main(["tiny", "llama", "--out", str(tiny)]) == 0
    options = ["--variant", "8da4w,portable-fp32", "--rounding", "nearest"]
    options += ["--max-prefill", "8", "--external-weights"]
    assert main(["generate", str(tiny), *options, "--out", str(tmp_path)]) == 0
    package = tmp_path / "tiny.nearside"
    manifest = Manifest.read(package)
    check_files(package, manifest)
    variants = {v.name: v for v in manifest.variants}
    assert list(variants) == ["xnnpack-8da4w", "portable-fp32"]
    assert [v.rounding for v in manifest.variants] == ["nearest", None]
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
    assert np.abs(found["xnnpack-8da4w"] - found["portable-fp32"]).max() > 0.01


def test_one_variant_below_its_gate_leaves_nothing_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(TINY_COLOUR.gates, "int8", ClassifyGate(top1_agreement=1.01))
    command = ["classify", "tiny-classifier", "--variant", "portable-fp32,int8"]
    assert main([*command, "--out", str(tmp_path)]) == 1
    assert "variant xnnpack-int8 is below its quality gate" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("scheme", ["fp32", "int8"])
def test_openvino_takes_the_whole_classifier_and_runs_it(scheme: str, tmp_path: Path) -> None:
    pytest.importorskip("openvino", reason="not part of the exporter's environment")
    command = ["classify", "tiny-classifier", "--delegate", "openvino", "--variant", scheme]
    assert main([*command, "--out", str(tmp_path)]) == 0
    (package,) = tmp_path.iterdir()
    (variant,) = Manifest.read(package).variants
    assert (variant.delegates, variant.operators) == (["OpenvinoBackend"], [])
    assert (variant.name, variant.coverage) == (f"openvino-{scheme}", 1.0)
    assert variant.quality.top1_agreement >= 0.98


def test_core_ml_is_exported_where_it_does_not_run_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("coremltools", reason="not part of the exporter's environment")
    if wheel.has("CoreMLBackend"):
        pytest.skip("Core ML runs here")
    command = ["classify", "tiny-classifier", "--variant", "all", "--delegate", "coreml"]
    assert main([*command, "--out", str(tmp_path / "out")]) == 2
    assert "Give --unmeasured to export it all the same" in capsys.readouterr().err
    assert main([*command, "--unmeasured", "--out", str(tmp_path / "out")]) == 0
    assert "coreml-fp16: " in (said := capsys.readouterr().out)
    assert "quality not measured: ExecuTorch's runtime has no CoreMLBackend" in said
    package = tmp_path / "out" / "tiny-classifier.nearside"
    half, whole = Manifest.read(package).variants
    assert (half.name, half.quantisation) == ("coreml-fp16", "fp16")
    assert (whole.name, whole.quantisation) == ("coreml-fp32", "none")
    for variant in (half, whole):
        assert (variant.delegates, variant.operators) == (["CoreMLBackend"], [])
        assert variant.quality is None
        assert b"CoreMLBackend" in (package / variant.program.path).read_bytes()
    assert main(["verify", str(package)]) == 0
    assert "coreml-fp32 was not measured at export" in capsys.readouterr().err
