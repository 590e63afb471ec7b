"""Task generate from the command line: whole packages, or nothing."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from nearside_export.cli import main
from nearside_export.errors import QualityError
from nearside_export.manifest import GenerateGate, GenerateQuality, Manifest
from nearside_export.package import check_files
from nearside_export.runtime import nearside
from nearside_export.runtime.wheel import LoadedMethod
from nearside_export.tasks import generate, generate_advice
from nearside_export.tasks.advice import FP32
from nearside_export.wanted import Wanted, read

torch.set_num_threads(1)


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    assert main(["tiny", "llama", "--out", str(tmp_path / "tiny-llama")]) == 0
    return tmp_path / "tiny-llama"


def test_a_package_is_what_its_manifest_says(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    command = ["generate", str(tiny), "--context", "96", "--max-prefill", "16", "--out", str(out)]
    assert main(command) == 0
    package = out / "tiny-llama-fp32.nearside"
    assert str(package) in capsys.readouterr().out
    manifest = Manifest.read(package)
    check_files(package, manifest)
    assert (manifest.name, manifest.task.NAME) == ("tiny-llama", "generate")
    assert manifest.licence == "apache-2.0"
    facts = manifest.task.generation
    assert (facts.context_length, facts.max_prefill_tokens, facts.vocab_size) == (96, 16, 320)
    assert (facts.bos_id, facts.eos_ids, facts.add_bos) == (0, [1, 4], True)
    assert facts.sliding_window is None
    tokenizer = Tokenizer.from_file(str(package / manifest.task.tokenizer.path))
    assert tokenizer.encode("the").ids[0] == facts.bos_id
    template = (package / manifest.task.chat_template.path).read_text()
    assert template == (tiny / "chat_template.jinja").read_text()
    (variant,) = manifest.variants
    assert variant.quality.logit_max_error < 1e-4
    assert variant.quality.next_token_agreement == 1.0
    assert variant.export_command == (
        "nearside-export generate tiny-llama --context 96 --max-prefill 16"
    )
    named = {"manifest.json", *(f.path for f in manifest.files())}
    assert {p.name for p in package.iterdir()} == named

    from executorch.runtime import Runtime

    program = Runtime.get().load_program((package / variant.program.path).read_bytes())
    constants = {
        n: program.load_method(n).execute([]) for n in program.method_names if n != "forward"
    }
    assert constants["get_max_seq_len"] == [16]
    assert constants["get_max_context_len"] == [96]
    assert constants["get_eos_ids"] == [1, 4]
    assert constants["get_bos_id"] == [0]
    assert constants["get_n_kv_heads"] == [2]
    assert constants["get_head_dim"] == [16]
    assert constants["use_kv_cache"] == [True]


def test_weights_can_lie_beside_the_program(tiny: Path, tmp_path: Path, nearside_cli: Path) -> None:
    options = ["--context", "48", "--max-prefill", "8", "--external-weights"]
    assert main(["generate", str(tiny), *options, "--out", str(tmp_path)]) == 0
    package = tmp_path / "tiny-llama-fp32.nearside"
    manifest = Manifest.read(package)
    check_files(package, manifest)
    (variant,) = manifest.variants
    (data,) = variant.external_data
    assert (data.path, variant.export_command.split()[-1]) == ("weights.ptd", "--external-weights")
    assert variant.program.bytes < data.bytes / 4
    assert main(["verify", str(package), "--source", str(tiny)]) == 0
    assert variant.quality.logit_max_error < 1e-4
    files = package / variant.program.path, [package / data.path]
    calls = [np.array([[7, 300, 9]]), np.arange(3)]
    (want,) = LoadedMethod(files[0], "forward", files[1][0]).run(calls)
    with nearside.Program(*files, cli=nearside_cli) as program:
        np.testing.assert_allclose(program.method().run(calls)[0], want, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--context", "257"], 2, "--context 257 is more than the 256 positions"),
        (["--context", "0"], 2, "--context is 0, but must be at least 1"),
        (["--max-prefill", "-1"], 2, "--max-prefill is -1"),
    ],
)
def test_wrong_options_write_nothing(
    tiny: Path,
    tmp_path: Path,
    options: list[str],
    code: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["generate", str(tiny), *options, "--out", str(tmp_path / "out")]) == code
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_broken_model_writes_nothing(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    config = json.loads((tiny / "config.json").read_text())
    (tiny / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 3}))
    assert main(["generate", str(tiny), "--out", str(out)]) == 1
    assert "layers.2.self_attn.q_proj.weight' is missing" in capsys.readouterr().err
    assert not out.exists()
    (tiny / "config.json").write_text(json.dumps({**config, "hidden_act": "relu"}))
    assert main(["generate", str(tiny), "--out", str(out)]) == 1
    assert "config.json: hidden_act is 'relu'" in capsys.readouterr().err
    assert not out.exists()
    (tiny / "README.md").unlink()
    assert main(["generate", str(tiny), "--out", str(out)]) == 2
    assert "states no licence: give it with --licence" in capsys.readouterr().err


def test_an_interrupted_export_leaves_nothing(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nearside_export.architectures.decoder import export

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    out = tmp_path / "out"
    monkeypatch.setattr(export, "export", interrupted)
    assert main(["generate", str(tiny), "--out", str(out)]) == 130
    assert list(out.iterdir()) == []


def test_an_unknown_family_lists_the_known_ones(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tiny", "mamba", "--out", str(tmp_path / "x")]) == 2
    assert "known: llama, qwen3, gemma3-text" in capsys.readouterr().err
    assert main(["tiny", "llama", "--out", str(tiny)]) == 2
    assert "exists already" in capsys.readouterr().err


def test_below_its_gate_a_scheme_that_passes_is_named(
    tiny: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    gates = {"8da4w": GenerateGate(perplexity_ratio=0.1), "int8": GenerateGate(perplexity_ratio=5)}
    monkeypatch.setattr(generate, "GATES", generate.GATES | gates)
    options = ["--variant", "8da4w", "--rounding", "nearest", "--context", "64", "--quiet"]
    assert main(["generate", str(tiny), *options, "--out", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert "xnnpack-8da4w is below its quality gate" in said
    assert "It would pass with --variant int8 (perplexity " in said
    assert not list((tmp_path / "out").glob("*"))
    gates = dict.fromkeys(("int8", "int8w"), GenerateGate(perplexity_ratio=0.1))
    monkeypatch.setattr(generate, "GATES", generate.GATES | gates)
    options[1] = "int8"
    del options[2:4]
    assert main(["generate", str(tiny), *options, "--out", str(tmp_path / "out")]) == 1
    assert "It would pass with --variant fp32, which is what" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("variant", "options", "bits", "quantisation"),
    [
        ("int8w", [], 8, "int8-weight-only"),
        ("8da4w", ["--embedding-bits", "4", "--rounding", "nearest-asymmetric"], 4, "8da4w"),
    ],
)
def test_integer_weights_say_what_they_are(
    variant: str,
    options: list[str],
    bits: int,
    quantisation: str,
    tiny: Path,
    tmp_path: Path,
    nearside_cli: Path,
) -> None:
    command = ["generate", str(tiny), "--variant", variant, "--context", "48", *options]
    assert main([*command, "--max-prefill", "8", "--out", str(tmp_path)]) == 0
    package = tmp_path / "tiny-llama.nearside"
    (found,) = Manifest.read(package).variants
    assert (found.quantisation, found.embedding_bits) == (quantisation, bits)
    assert found.rounding == ("nearest-asymmetric" if variant == "8da4w" else None)
    assert not any("dequantize" in operator for operator in found.operators)
    assert found.export_command.split()[3:5] == ["--variant", variant]
    assert set(options) <= set(found.export_command.split())
    program = package / found.program.path
    calls = [np.array([[7, 300, 9]]), np.arange(3)]
    (want,) = LoadedMethod(program, "forward").run(calls)
    with nearside.Program(program, cli=nearside_cli) as loaded:
        np.testing.assert_allclose(loaded.method().run(calls)[0], want, atol=1e-4)


@pytest.mark.parametrize(
    ("family", "options", "cache"),
    [
        ("llama", [], "int8"),
        ("qwen3", ["--cache", "f16"], "f16"),
        ("gemma3-text", ["--variant", "all", "--cache", "f32"], "f32"),
    ],
)
def test_decoders_of_our_own_operators_are_packages_too(
    family: str,
    options: list[str],
    cache: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    nearside_cli: Path,
) -> None:
    monkeypatch.setenv("NEARSIDE_CLI", str(nearside_cli))
    assert main(["tiny", family, "--out", str(tmp_path / "tiny")]) == 0
    command = ["generate", str(tmp_path / "tiny"), "--delegate", "nearside", *options]
    command += ["--context", "64", "--max-prefill", "16", "--rounding", "nearest-asymmetric"]
    assert main([*command, "--name", family, "--out", str(tmp_path)]) == 0
    package = tmp_path / f"{family}.nearside"
    manifest = Manifest.read(package)
    names = ["nearside-8da4w", "nearside-int8"] if "all" in options else ["nearside-8da4w"]
    assert [variant.name for variant in manifest.variants] == names
    for variant in manifest.variants:
        assert (variant.attention, variant.kv_cache) == ("fused", cache)
        assert (variant.delegates, variant.coverage) == ([], 0.0)
        assert "nearside::linear.out" in variant.operators
        assert not any("aten::" in o for o in variant.operators if "slice_copy" not in o)
        assert variant.quality.kl_divergence < 0.3
    sliding = manifest.task.generation.sliding_slots
    assert (sliding is not None) == (family == "gemma3-text")


def test_the_choice_of_a_cache_is_for_our_own_operators(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["generate", str(tiny), "--cache", "f16", "--out", str(tmp_path / "out")]
    assert main(command) == 2
    assert "--cache is for --delegate nearside" in capsys.readouterr().err


def test_what_is_tried_for_a_failed_gate_is_smallest_first_and_nothing_twice() -> None:
    def tried(
        scheme: str, request: generate.Request, loops: bool = False
    ) -> list[tuple[str, int, int]]:
        seen: list[tuple[str, int, int]] = []

        def estimate(other: Wanted, candidate: generate.Request) -> GenerateQuality:
            seen.append((other.scheme, candidate.group_size, candidate.embedding_bits))
            raise QualityError("not good enough")

        (variant,) = read([scheme], "generate")
        assert generate_advice.passing(variant, request, estimate, loops=loops) == FP32
        return seen

    usual = generate.Request()
    assert tried("8da4w", usual) == [("int8", 32, 8), ("int8w", 32, 8)]
    large = dataclasses.replace(usual, group_size=64, rounding="gptq")
    assert tried("8da4w", large)[:2] == [("8da4w", 64, 8), ("8da4w", 32, 8)]
    assert tried("8da4w", large, loops=True) == [("int8", 64, 8), ("int8w", 64, 8)]
    small = dataclasses.replace(usual, embedding_bits=4)
    assert tried("int8", small) == [("int8", 32, 8), ("int8w", 32, 4), ("int8w", 32, 8)]
    assert tried("fp32", usual) == []
    assert tried("nearside-8da4w", usual) == [("int8", 32, 8)]
