from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from nearside_export.cli import main
from nearside_export.manifest import Describe, Manifest
from nearside_export.package import check_files
from nearside_export.tasks import describe, verify


@pytest.fixture(scope="module")
def package(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    request = describe.Request(context_length=64)
    return describe.export_package(folder, request, tmp_path_factory.mktemp("out"), "test")


def test_a_folder_becomes_a_package_with_all_methods_and_measured_quality(package: Path) -> None:
    manifest = Manifest.read(package)
    check_files(package, manifest)
    task, (variant,) = manifest.task, manifest.variants
    assert isinstance(task, Describe)
    assert task.vision.tokens_per_image == 16
    assert (task.image.width, task.image.fit, task.image.mean) == (32, "stretch", (0.5, 0.5, 0.5))
    assert (task.generation.max_prefill_tokens, task.generation.sliding_window) == (64, 8)
    names = [method.name for method in variant.methods]
    assert names == ["vision_encoder", "token_embedding", "text_decoder"]
    assert variant.method == "text_decoder"
    # ExecuTorch plans the caches into every method; a group of them has them once.
    more = sum(method.planned_bytes for method in variant.methods) - variant.planned_bytes
    layers, keys_and_values, heads, size = 3, 2, 2, 32
    assert more == 2 * layers * keys_and_values * heads * 64 * size * 4
    assert variant.quality.logit_max_error < 1e-4
    assert variant.quality.embedding_max_error < 1e-4
    assert variant.quality.next_token_agreement == 1.0


def test_measuring_again_gives_the_manifests_figures_and_finds_out_others(
    package: Path, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(package), "--source", str(folder)]) == 0
    assert main(["verify", str(package)]) == 1
    assert "give the Hugging Face folder that it was made from" in capsys.readouterr().err
    other = shutil.copytree(package, tmp_path / "other.nearside")
    raw = json.loads((other / "manifest.json").read_text())
    raw["variants"][0]["quality"].update(logit_max_error=5e-4, next_token_agreement=0.9)
    (other / "manifest.json").write_text(json.dumps(raw))
    (comparison,) = verify.verify(other, folder)
    found = [d.split(":")[0] for d in comparison.differences()]
    assert found == ["logit_max_error", "next_token_agreement"]


@pytest.mark.usefixtures("nearside_cli")
def test_compared_with_itself_it_is_the_same(package: Path, tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    command = ["compare", str(package), str(package), "--rounds", "1", "--json", str(file)]
    assert main(command) == 0
    _, second = json.loads(file.read_text())["subjects"]
    measured = second["measured"]
    assert measured["tokens"] == second["claimed"]["tokens"]
    assert (measured["next_token_agreement"], measured["embedding_max_error"]) == (1.0, 0.0)
    names = ["pictures_per_second", "prefill_tokens_per_second", "decode_tokens_per_second"]
    assert list(second["speed"][0]["median"]) == names


@pytest.mark.usefixtures("nearside_cli")
def test_with_our_operator_it_is_run_by_our_runtime(folder: Path, tmp_path: Path) -> None:
    # An image's rows in one call, and rings of 8 + 16 slots.
    request = describe.Request(context_length=64, max_prefill_tokens=16, attention="fused")
    package = describe.export_package(folder, request, tmp_path, "test")
    manifest = Manifest.read(package)
    facts, (variant,) = manifest.task.generation, manifest.variants
    assert (facts.sliding_window, facts.sliding_slots) == (8, 24)
    assert "nearside::attention.out" in variant.operators
    assert variant.quality.logit_max_error < 1e-4
    assert variant.quality.next_token_agreement == 1.0
