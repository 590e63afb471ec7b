"""Language models measured again, from the weights that they were made from."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from compare.conftest import Llama
from nearside_export.cli import main
from nearside_export.errors import PackageError
from nearside_export.recipes import registry
from nearside_export.tasks import verify


def test_measuring_again_gives_the_manifests_figures(
    llama: Llama, capsys: pytest.CaptureFixture[str]
) -> None:
    for package in (llama.fp32, llama.int8):
        assert main(["verify", str(package), "--source", str(llama.folder)]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[1].removeprefix("  manifest") == lines[2].removeprefix("  measured")


def test_a_manifest_that_claims_too_much_is_found_out(llama: Llama, tmp_path: Path) -> None:
    package = shutil.copytree(llama.int8, tmp_path / llama.int8.name)
    raw = json.loads((package / "manifest.json").read_text())
    quality = raw["variants"][0]["quality"]
    quality["perplexity"] *= 0.99
    quality["kl_divergence"] /= 2
    quality["next_token_agreement"] = 1.0
    (package / "manifest.json").write_text(json.dumps(raw))
    (comparison,) = verify.verify(package, llama.folder)
    found = [d.split(":")[0] for d in comparison.differences()]
    assert found == ["perplexity", "next_token_agreement", "kl_divergence"]


def test_without_the_source_it_says_what_to_give(
    llama: Llama, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(llama.int8)]) == 1
    said = capsys.readouterr().err
    assert "give the Hugging Face folder or GGUF file that it was made from with --source" in said
    assert "'Hugging Face folder tiny-llama'" in said


def test_another_model_is_not_the_source(llama: Llama, tmp_path: Path) -> None:
    registry.write("qwen3", tmp_path / "qwen3")
    with pytest.raises(PackageError, match=r"tokenizer\.json differs from the source's"):
        list(verify.verify(llama.int8, tmp_path / "qwen3"))
    other = shutil.copytree(llama.folder, tmp_path / "other")
    config = json.loads((other / "generation_config.json").read_text())
    (other / "generation_config.json").write_text(json.dumps({**config, "eos_token_id": 2}))
    with pytest.raises(PackageError, match=r"eos_ids and add_bos are \(0, \(1, 4\), True\)"):
        list(verify.verify(llama.int8, other))
