"""A tiny encoder from folder to package, as ExecuTorch runs it."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import ROOT
from jsonschema import Draft202012Validator

from nearside_export import cli, wanted
from nearside_export.architectures.encoder import load
from nearside_export.compare import measure
from nearside_export.compare.subjects import open_subjects
from nearside_export.errors import PackageError, QualityError, SourceError
from nearside_export.manifest import Embed, EmbedGate, EmbedQuality, Manifest
from nearside_export.package import check_files, file_ref
from nearside_export.runtime.wheel import LoadedMethod
from nearside_export.sources import sentence_transformers
from nearside_export.tasks import embed, verify


@pytest.fixture(scope="module")
def package(bert_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both variants of the tiny BERT."""
    out = tmp_path_factory.mktemp("out")
    # Random weights find nothing, and small errors move their order: the gate is not their test.
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(embed.GATES, "int8", EmbedGate(0.05))
        code = cli.main(["embed", str(bert_folder), "--variant", "all", "--out", str(out)])
    assert code == 0
    return out / "tiny-bert.nearside"


def test_a_package_says_what_the_folder_said(package: Path) -> None:
    manifest = Manifest.read(package)
    check_files(package, manifest)
    schema = json.loads((ROOT / "docs" / "manifest.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(json.loads(manifest.to_json()))
    assert (manifest.name, manifest.licence) == ("tiny-bert", "mit")
    assert isinstance(manifest.task, Embed)
    facts = manifest.task.embedding
    assert (facts.dimensions, facts.pooling, facts.normalize) == (64, "mean", True)
    assert facts.max_tokens == 48
    int8, fp32 = manifest.variants
    assert (int8.name, int8.quantisation, int8.embedding_bits) == (
        "xnnpack-int8", "pt2e-dynamic-int8", 8,
    )  # fmt: skip
    assert (fp32.name, fp32.quantisation, fp32.embedding_bits) == ("xnnpack-fp32", "none", 32)
    assert int8.export_command == "nearside-export embed tiny-bert --variant all"


def test_all_but_looking_up_words_and_positions_is_delegated(package: Path) -> None:
    int8, fp32 = Manifest.read(package).variants
    assert fp32.operators == [
        "aten::embedding.out",
        "aten::slice_copy.Tensor_out",
        "aten::sym_size.int",
    ]
    assert int8.operators == [
        "aten::slice_copy.Tensor_out", "aten::sym_size.int",
        "quantized_decomposed::embedding_byte.out",
    ]  # fmt: skip
    assert min(fp32.coverage, int8.coverage) > 0.95


def test_fp32_is_eager_and_int8_is_near_it_for_texts_of_any_length(
    package: Path, bert_folder: Path
) -> None:
    model, config = load.embedder(sentence_transformers.open_folder(bert_folder), 48)
    int8, fp32 = (
        LoadedMethod((package / v.program.path).read_bytes(), v.method)
        for v in Manifest.read(package).variants
    )
    for count in (48, 1, 2, 31):
        tokens = torch.randint(config.vocab_size, (1, count))
        with torch.no_grad():
            want = model(tokens).numpy()
        assert np.abs(fp32.run([tokens.numpy()])[0] - want).max() < 1e-5
        found = int8.run([tokens.numpy()])[0]
        assert np.linalg.norm(found) == pytest.approx(1.0, abs=1e-5)
        assert float(np.sum(found * want)) > 0.99


def test_measuring_again_gives_the_manifests_figures(package: Path, bert_folder: Path) -> None:
    int8, fp32 = verify.verify(package, bert_folder)
    assert int8.differences() == fp32.differences() == []
    assert isinstance(fp32.measured, EmbedQuality)
    assert fp32.measured.cosine_min == 1.0
    with pytest.raises(PackageError, match="give its folder with --source"):
        list(verify.verify(package))


def test_a_manifest_that_claims_too_much_is_found_out(
    package: Path, bert_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = shutil.copytree(package, tmp_path / "copy.nearside")
    raw = json.loads((copy / "manifest.json").read_text(encoding="utf-8"))
    raw["variants"][0]["quality"]["ndcg_at_10"] = 0.99
    (copy / "manifest.json").write_text(json.dumps(raw), encoding="utf-8")
    assert cli.main(["verify", str(copy), "--source", str(bert_folder)]) == 1
    assert "xnnpack-int8: ndcg_at_10: 0.99 claimed" in capsys.readouterr().err


def test_a_package_of_another_tokenizer_is_found_out(
    package: Path, bert_folder: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(bert_folder, tmp_path / "bert")
    text = (folder / "tokenizer.json").read_text(encoding="utf-8")
    (folder / "tokenizer.json").write_text(text.replace("Lowercase", "NFC"), encoding="utf-8")
    with pytest.raises(PackageError, match="differs from the model's tokenizer"):
        list(verify.verify(package, folder))


def test_an_export_below_its_gate_writes_nothing(
    package: Path, bert_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pte = (package / "xnnpack-fp32.pte").read_bytes()
    variant = Manifest.read(package).variant("xnnpack-fp32")
    lowered = embed.LoweredProgram(pte, "forward", variant.delegates, [], 1.0, 0)
    # The program is there already, and lowering it again would take seconds.
    monkeypatch.setattr(embed, "lower", lambda *_: lowered)
    monkeypatch.setitem(embed.GATES, "fp32", EmbedGate(-0.01))
    source = sentence_transformers.open_folder(bert_folder)
    with pytest.raises(QualityError, match=r"Nothing was written$"):
        embed.export_package(source, embed.Request(variants=("fp32",)), tmp_path, "test")
    assert list(tmp_path.iterdir()) == []


def test_of_two_tables_the_better_one_is_named(
    bert_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = sentence_transformers.open_folder(bert_folder)
    reference = embed.measure_reference(source, 48)
    (int8,) = wanted.read(["int8"], "embed")
    for drop, said in ((2.0, r"--embedding-bits 8 \(NDCG@10 0\."), (-2.0, "--variant fp32, which")):
        monkeypatch.setitem(embed.GATES, "int8", EmbedGate(drop))
        request = embed.Request(embedding_bits=4)
        assert re.match(said, embed.passing(source, int8, request, 48, reference))


def test_variants_can_share_weights_beside_the_programs(bert_folder: Path, tmp_path: Path) -> None:
    options = ["--variant", "fp32,int8", "--external-weights", "--out", str(tmp_path)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(embed.GATES, "int8", EmbedGate(0.05))
        assert cli.main(["embed", str(bert_folder), *options]) == 0
    package = tmp_path / "tiny-bert.nearside"
    manifest = Manifest.read(package)
    check_files(package, manifest)
    (data,) = {d.path: d for v in manifest.variants for d in v.external_data}.values()
    assert all(v.program.bytes < data.bytes / 4 for v in manifest.variants)
    assert all(not c.differences() for c in verify.verify(package, bert_folder))


def test_a_folder_that_lacks_a_file_is_one_line_and_writes_nothing(
    bert_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shutil.copytree(bert_folder, tmp_path / "bert")
    (folder / "modules.json").unlink()
    assert cli.main(["embed", str(folder), "--out", str(tmp_path / "out")]) == 1
    err = capsys.readouterr().err
    assert err.startswith("nearside-export: ")
    assert "modules.json is missing" in err
    assert not (tmp_path / "out").exists()


def test_a_model_without_a_licence_asks_for_one(bert_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(bert_folder, tmp_path / "bert")
    (folder / "README.md").unlink()
    assert cli.main(["embed", str(folder), "--out", str(tmp_path / "out")]) == 2
    (folder / "config.json").unlink()
    with pytest.raises(SourceError):
        sentence_transformers.open_folder(folder)


@pytest.mark.usefixtures("nearside_cli")
def test_compared_through_our_runtime_int8_is_as_its_manifest_claims(
    package: Path, tmp_path: Path
) -> None:
    file = tmp_path / "figures.json"
    names = [f"{package}:xnnpack-{scheme}" for scheme in ("fp32", "int8")]
    assert cli.main(["compare", *names, "--rounds", "1", "--json", str(file)]) == 0
    fp32, int8 = json.loads(file.read_text())["subjects"]
    assert set(fp32["measured"]) == {"documents", "ndcg_at_10", "spearman"}
    for name in ("ndcg_at_10", "spearman", "cosine_min", "cosine_mean"):
        assert int8["measured"][name] == pytest.approx(int8["claimed"][name], abs=0.002), name
    assert fp32["measured"]["ndcg_at_10"] == pytest.approx(int8["claimed"]["ndcg_at_10_fp32"])
    assert int8["measured"]["cosine_min"] < 1.0
    median = int8["speed"][0]["median"]
    assert median["tokens_per_second"] > median["texts_per_second"] > 0


def test_packages_with_other_tokenizers_are_not_compared(package: Path, tmp_path: Path) -> None:
    other = shutil.copytree(package, tmp_path / "other.nearside")
    raw = json.loads((other / "tokenizer.json").read_text())
    (other / "tokenizer.json").write_text(json.dumps({**raw, "normalizer": None}))
    manifest = json.loads((other / "manifest.json").read_text())
    manifest["tokenizer"] = dataclasses.asdict(file_ref(other, "tokenizer.json"))
    (other / "manifest.json").write_text(json.dumps(manifest))
    subjects = open_subjects([f"{package}:xnnpack-int8", f"{other}:xnnpack-int8"])
    with pytest.raises(PackageError, match=r"B \(other.* other tokens than A \(tiny-bert"):
        measure.open_workload(subjects, None)
