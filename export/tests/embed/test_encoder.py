"""Encoders of each family are those of transformers, in eager fp32."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from embed.conftest import FAMILIES, VOCABULARY, transformer, write_folder
from nearside_export.architectures.encoder import families, load
from nearside_export.errors import SourceError, UnsupportedError, UsageError
from nearside_export.plan import embed as plan
from nearside_export.sources import sentence_transformers
from nearside_export.sources.fields import Fields


@pytest.mark.parametrize("family", FAMILIES)
def test_an_embedding_is_that_of_transformers(family: str, tmp_path: Path) -> None:
    source = sentence_transformers.open_folder(write_folder(tmp_path / family, family))
    model, config = load.embedder(source, 48)
    assert (config.family, config.layers) == (family, 2)
    reference = transformer(family)
    for count in (1, 2, 17, 48):
        # No padding token: RoBERTa of transformers would leave it out of the positions.
        tokens = torch.randint(4, VOCABULARY, (1, count))
        with torch.no_grad():
            hidden = reference(tokens).last_hidden_state
            want = torch.nn.functional.normalize(hidden.mean(dim=1), dim=1)
            torch.testing.assert_close(model(tokens), want, atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("mode", "pooling", "pooled"),
    [
        ("mean_tokens", "mean", lambda h: h.mean(dim=1)),
        ("cls_token", "cls", lambda h: h[:, 0]),
        ("lasttoken", "last", lambda h: h[:, -1]),
    ],
)
def test_each_pooling_is_what_its_name_says(
    tmp_path: Path, mode: str, pooling: str, pooled: object
) -> None:
    folder = write_folder(tmp_path / "bert", "bert", mode)
    modules = json.loads((folder / "modules.json").read_text())[:2]
    (folder / "modules.json").write_text(json.dumps(modules))
    source = sentence_transformers.open_folder(folder)
    assert (source.pooling, source.normalize) == (pooling, False)
    tokens = torch.randint(VOCABULARY, (1, 9))
    with torch.no_grad():
        want = pooled(transformer("bert")(tokens).last_hidden_state)
        found = load.embedder(source, 48)[0](tokens)
    torch.testing.assert_close(found, want, atol=1e-5, rtol=1e-5)


def test_loading_twice_gives_the_same_model(bert_folder: Path) -> None:
    source = sentence_transformers.open_folder(bert_folder)
    first = load.embedder(source, 48)[0].state_dict()
    first = {name: tensor.clone() for name, tensor in first.items()}
    again = load.embedder(source, 48)[0].state_dict()
    assert all(torch.equal(tensor, again[name]) for name, tensor in first.items())


def test_texts_may_be_as_long_as_the_folder_says_and_the_model_has_positions(
    bert_folder: Path, tmp_path: Path
) -> None:
    source = sentence_transformers.open_folder(bert_folder)
    assert plan.max_tokens(source, None) == 48
    assert plan.max_tokens(source, 66) == 66
    for asked in (67, 1):
        with pytest.raises(UsageError, match="must be 2 to 66"):
            plan.max_tokens(source, asked)
    roberta = write_folder(tmp_path / "roberta", "roberta")
    (roberta / "sentence_bert_config.json").unlink()
    assert plan.max_tokens(sentence_transformers.open_folder(roberta), None) == 64


def test_other_encoders_are_refused_with_those_that_can_be_exported() -> None:
    with pytest.raises(
        UnsupportedError, match=r"'t5'.*bert, roberta, xlm-roberta, mpnet, distilbert"
    ):
        families.family(Fields({"model_type": "t5"}, "config.json"))


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("hidden_act", "swish", "'swish', an activation that can't be exported"),
        ("position_embedding_type", "relative_key", "only absolute positions"),
        ("is_decoder", True, "a decoder sees no later tokens"),
        ("num_attention_heads", 5, "not a multiple of the 5 attention heads"),
        ("hidden_size", None, "hidden_size is missing"),
        ("layer_norm_eps", "small", "layer_norm_eps must be a number"),
        ("num_hidden_layers", 3, "'encoder.layer.2.* is missing from the weights"),
        ("num_hidden_layers", 1, "the weights hold 'encoder.layer.1"),
        ("vocab_size", 401, r"shape \[400, 64\], but the configuration asks for \[401, 64\]"),
    ],
)
def test_a_configuration_that_does_not_fit_is_refused_by_its_field(
    bert_folder: Path, tmp_path: Path, field: str, value: object, said: str
) -> None:
    folder = shutil.copytree(bert_folder, tmp_path / "bert")
    config = json.loads((folder / "config.json").read_text())
    config[field] = value
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises((SourceError, UnsupportedError), match=said):
        load.embedder(sentence_transformers.open_folder(folder), 48)


def test_weights_with_a_models_prefix_and_old_names_are_found(
    bert_folder: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(bert_folder, tmp_path / "bert")
    tensors = load_file(folder / "model.safetensors")

    def old(name: str) -> str:
        return f"bert.{name}".replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta")

    tensors = {old(name): tensor for name, tensor in tensors.items()}
    tensors["cls.predictions.bias"] = torch.zeros(VOCABULARY)
    save_file(tensors, folder / "model.safetensors")
    tokens = torch.randint(VOCABULARY, (1, 9))
    with torch.no_grad():
        want, found = (
            load.embedder(sentence_transformers.open_folder(f), 48)[0](tokens)
            for f in (bert_folder, folder)
        )
    assert torch.equal(want, found)
