"""Packages side by side, through the Nearside runtime."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from conftest import EFFICIENTNET, TINY, VARIANTS

from compare.conftest import Llama
from nearside_export.cli import main
from nearside_export.compare import measure
from nearside_export.compare.generate import lengths
from nearside_export.compare.subjects import open_subjects
from nearside_export.errors import PackageError, UsageError
from nearside_export.manifest import Manifest


@pytest.mark.usefixtures("nearside_cli")
def test_a_classifier_is_as_good_as_itself_and_its_figures_are_plausible(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "figures.json"
    name = f"{EFFICIENTNET}:xnnpack-int8"
    command = ["compare", str(EFFICIENTNET), name, "--rounds", "3", "--threads", "1,2"]
    assert main([*command, "--json", str(file)]) == 0
    found = json.loads(file.read_text())
    assert (found["task"], found["rounds"]) == ("classify", 3)
    (variant,) = Manifest.read(EFFICIENTNET).variants
    first, second = found["subjects"]
    for subject in (first, second):
        assert subject["program_bytes"] == variant.program.bytes
        assert subject["claimed"]["top1_agreement"] == variant.quality.top1_agreement
        assert [s["threads"] for s in subject["speed"]] == [1, 2]
        for speed in subject["speed"]:
            rounds = [r["images_per_second"] for r in speed["rounds"]]
            assert len(rounds) == 3
            assert speed["median"]["images_per_second"] == sorted(rounds)[1]
            # 5 MB of weights, and a runtime that takes some.
            assert 6e6 < speed["peak_bytes"] < 3e8
    assert first["measured"] == {"images": variant.quality.images}
    assert second["measured"]["top1_agreement"] == 1.0
    assert second["measured"]["logit_rmse"] == 0.0
    out = capsys.readouterr().out
    assert out.startswith("A  efficientnet-lite0.nearside:xnnpack-int8, pt2e-static-int8\nB  ")
    (line,) = (line for line in out.splitlines() if "program, bytes" in line)
    assert line.split()[2:] == 2 * f"{variant.program.bytes:,}".split(",")
    assert "peak memory, bytes" in out
    medians = [f"{s['speed'][0]['median']['images_per_second']:.4g}" for s in (first, second)]
    assert medians in [line.split()[3:] for line in out.splitlines()]
    assert "median of 3 rounds in turns, each 10 pictures" in out


@pytest.mark.usefixtures("nearside_cli")
def test_prefill_and_decode_are_measured_as_an_app_calls_them(
    llama: Llama, two_methods: Path, tmp_path: Path
) -> None:
    (variant,) = Manifest.read(two_methods).variants
    (alone,) = Manifest.read(llama.int8).variants
    assert (variant.method, variant.prefill_and_decode) == ("prefill", ["prefill", "decode"])
    assert variant.export_command.endswith("--methods prefill,decode --name two")
    assert variant.quality == alone.quality
    # Two graphs, and the weights once.
    assert variant.bytes < 1.2 * alone.bytes
    assert main(["verify", str(two_methods), "--source", str(llama.folder)]) == 0

    file = tmp_path / "figures.json"
    command = ["compare", str(llama.int8), str(two_methods), "--rounds", "1", "--context", "50"]
    assert main([*command, "--json", str(file)]) == 0
    _, both = json.loads(file.read_text())["subjects"]
    assert (both["measured"]["logit_max_error"], both["measured"]["kl_divergence"]) == (0.0, 0.0)


@pytest.mark.usefixtures("nearside_cli")
def test_our_runtime_finds_what_the_manifest_of_a_language_model_claims(
    llama: Llama, tmp_path: Path
) -> None:
    file = tmp_path / "figures.json"
    command = ["compare", str(llama.fp32), str(llama.int8), "--rounds", "2", "--context", "50"]
    assert main([*command, "--json", str(file)]) == 0
    found = json.loads(file.read_text())
    assert found["round"] == "a prompt of 50 tokens, then 32 decoded from 50 positions on"
    fp32, int8 = (subject["measured"] for subject in found["subjects"])
    assert set(fp32) == {"tokens", "perplexity"}
    # Another runtime, and fp32 exported instead of eager: the same to some digits.
    (claimed,) = (v.quality for v in Manifest.read(llama.int8).variants)
    assert int8["tokens"] == fp32["tokens"] == claimed.tokens
    assert fp32["perplexity"] == pytest.approx(claimed.perplexity_fp32, rel=1e-4)
    assert int8["perplexity"] == pytest.approx(claimed.perplexity, rel=1e-3)
    assert int8["next_token_agreement"] == pytest.approx(claimed.next_token_agreement, abs=0.01)
    assert int8["kl_divergence"] == pytest.approx(claimed.kl_divergence, rel=0.05)
    assert int8["next_token_agreement"] < 1.0
    for subject in found["subjects"]:
        (speed,) = subject["speed"]
        assert set(speed["median"]) == {"prefill_tokens_per_second", "decode_tokens_per_second"}
        assert min(min(turn.values()) for turn in speed["rounds"]) > 0


@pytest.mark.usefixtures("nearside_cli")
def test_weights_in_data_files_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "figures.json"
    command = ["compare", str(VARIANTS), str(TINY), "--rounds", "1", "--json", str(file)]
    assert main(command) == 0
    subjects = json.loads(file.read_text())["subjects"]
    manifest = Manifest.read(VARIANTS)
    data = [sum(f.bytes for f in v.external_data) for v in manifest.variants]
    assert min(data) > 0
    assert [s["data_bytes"] for s in subjects] == [*data, 0]
    assert [s["variant"] for s in subjects[:2]] == ["xnnpack-fp32", "portable-fp32"]
    assert [s["measured"].get("top1_agreement") for s in subjects] == [None, 1.0, 1.0]
    assert subjects[1]["measured"]["logit_rmse"] < 1e-3
    assert "C  tiny-classifier.nearside:xnnpack-fp32, none" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("room", "context", "expected"),
    [
        (1024, None, (64, 128, 128)),
        (1024, 960, (64, 128, 960)),
        (1024, 50, (64, 50, 50)),
        (96, None, (32, 64, 64)),
        (2, None, (1, 1, 1)),
    ],
)
def test_a_round_fits_into_the_cache(
    room: int, context: int | None, expected: tuple[int, int, int]
) -> None:
    assert lengths(room, context) == expected


def test_more_than_the_cache_holds_is_a_usage_error() -> None:
    for context in (0, 961):
        with pytest.raises(UsageError, match="at least 1, at most 960"):
            lengths(1024, context)


@pytest.mark.usefixtures("nearside_cli")
def test_what_can_not_be_compared_says_why(
    llama: Llama, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:

    def fails(code: int, message: str, *words: object) -> None:
        assert main(["compare", *map(str, words)]) == code
        assert message in capsys.readouterr().err

    fails(1, "no variant 'fp16'; it has: xnnpack-int8", f"{EFFICIENTNET}:fp16", TINY)
    fails(1, "cannot read", EFFICIENTNET, tmp_path / "none.nearside")
    fails(2, "give two packages or more", EFFICIENTNET)
    fails(2, "is for the task classify, B (tiny-llama.nearside", EFFICIENTNET, llama.int8)
    fails(1, "other labels than A", EFFICIENTNET, TINY)
    fails(2, "--context is for the task generate", EFFICIENTNET, EFFICIENTNET, "--context", 9)
    fails(2, "--rounds is 0", EFFICIENTNET, EFFICIENTNET, "--rounds", 0)
    fails(2, "there is no folder", EFFICIENTNET, TINY, "--json", tmp_path / "a" / "b.json")
    fails(1, "was not found at", EFFICIENTNET, TINY, "--nearside", tmp_path / "nearside")
    damaged = shutil.copytree(TINY, tmp_path / "damaged.nearside")
    (damaged / "labels.txt").write_text("red\n")
    fails(1, "Export it again", TINY, damaged)
    for threads in ("0", "1,x", "257", ""):
        with pytest.raises(SystemExit):
            main(["compare", str(TINY), str(TINY), "--threads", threads])


def test_other_tokens_are_an_error(llama: Llama, tmp_path: Path) -> None:
    changed = shutil.copytree(llama.int8, tmp_path / "changed.nearside")
    raw = json.loads((changed / "manifest.json").read_text())
    raw["generation"]["add_bos"] = False
    (changed / "manifest.json").write_text(json.dumps(raw))
    subjects = open_subjects([str(llama.fp32), str(changed)])
    with pytest.raises(PackageError, match=r"B \(changed.* another tokenizer than A \(tiny-llama"):
        measure.open_workload(subjects, None)


def test_a_package_alone_stands_for_all_of_its_variants() -> None:
    names = [v.name for v in Manifest.read(VARIANTS).variants]
    subjects = open_subjects([str(VARIANTS), f"{VARIANTS}:{names[-1]}"])
    assert [s.variant.name for s in subjects] == [*names, names[-1]]
    assert [s.letter for s in subjects] == list("ABCDEFG"[: len(names) + 1])


def test_rounds_take_turns(nearside_cli: Path) -> None:
    class Recorded:
        round = "nothing"

        def __init__(self) -> None:
            self.places: list[int] = []

        def quality(self, programs: list) -> list[dict[str, float]]:
            return [{} for _ in programs]

        def prepare(self, place: int, _: object) -> None:
            self.places.append(place)

        def speed(self, place: int, program: object) -> dict[str, float]:
            self.places.append(place)
            program.method("forward").run([np.zeros((1, 3, 32, 32), np.float32)])
            return {"turn": float(len(self.places))}

    subjects = open_subjects([str(TINY), str(TINY)])
    workload = Recorded()
    result = measure.compare(subjects, workload, 3, [1], nearside_cli)
    # Each is prepared and warmed up; then they alternate.
    assert workload.places == [0, 0, 1, 1, 0, 1, 0, 1, 0, 1]
    assert [r["turn"] for r in result.entries[1].speed[0].rounds] == [6.0, 8.0, 10.0]
    assert result.entries[1].speed[0].median == {"turn": 8.0}
