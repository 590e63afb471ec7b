"""Hugging Face folders: what is read of them, and what is said where something is wrong."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

from nearside_export.architectures.decoder import families, weights
from nearside_export.errors import SourceError, UnsupportedError
from nearside_export.recipes import registry
from nearside_export.sources import huggingface


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of all tiny text models."""
    root = tmp_path_factory.mktemp("tiny")
    for family in ("llama", "qwen3", "gemma3-text"):
        registry.write(family, root / family)
    return root


@pytest.fixture
def folder(tiny: Path, tmp_path: Path) -> Path:
    """A Gemma 3 folder to break."""
    return Path(shutil.copytree(tiny / "gemma3-text", tmp_path / "model"))


def edit(path: Path, change: Callable[[dict], object]) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


@pytest.mark.parametrize("family", ["llama", "qwen3", "gemma3-text"])
def test_a_tiny_model_answers_as_transformers_does_with_its_folder(tiny: Path, family: str) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    source = huggingface.open_folder(tiny / family)
    decoder = weights.load(families.read(source.config), source.tensors, 64)
    reference = AutoModelForCausalLM.from_pretrained(
        tiny / family, local_files_only=True, dtype=torch.float32, attn_implementation="eager"
    )
    ids = AutoTokenizer.from_pretrained(tiny / family)("the end and Ünder 42", return_tensors="pt")
    tokens = ids["input_ids"]
    with torch.no_grad():
        want = reference(tokens).logits
        stream = decoder.stream(decoder.embed(tokens), torch.arange(tokens.shape[1]))
        got = decoder.logits(stream)
    assert torch.allclose(got, want, atol=1e-4, rtol=0)
    assert want.std() > 0.5


def test_the_same_recipe_writes_the_same_bytes(tiny: Path, tmp_path: Path) -> None:
    registry.write("qwen3", tmp_path / "again")
    for path in sorted((tiny / "qwen3").iterdir()):
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()


def test_facts_of_the_tokenizer(tiny: Path) -> None:
    gemma = huggingface.open_folder(tiny / "gemma3-text")
    assert gemma.licence == "apache-2.0"
    assert (gemma.tokenizer.bos_id, gemma.tokenizer.eos_ids) == (2, (1, 4))
    assert gemma.tokenizer.add_bos
    assert "<start_of_turn>" in gemma.tokenizer.chat_template
    qwen = huggingface.open_folder(tiny / "qwen3").tokenizer
    assert (qwen.bos_id, qwen.eos_ids, qwen.add_bos) == (None, (2,), False)
    # <|eot_id|> (4) ends a turn, though only the template says so.
    assert huggingface.open_folder(tiny / "llama").tokenizer.eos_ids == (1, 4)


def test_sampling_values_are_read_where_the_model_samples(folder: Path) -> None:
    values = {"do_sample": True, "temperature": 0.7, "top_k": 64, "top_p": 0.95}
    edit(folder / "generation_config.json", lambda c: c.update(values))
    defaults = huggingface.open_folder(folder).tokenizer.defaults
    assert defaults == {"temperature": 0.7, "top_k": 64, "top_p": 0.95}
    edit(folder / "generation_config.json", lambda c: c.update(do_sample=False))
    assert huggingface.open_folder(folder).tokenizer.defaults == {}


def test_older_places_of_the_chat_template(folder: Path) -> None:
    (folder / "chat_template.jinja").unlink()
    assert huggingface.open_folder(folder).tokenizer.chat_template is None
    named = [{"name": "tool_use", "template": "t"}, {"name": "default", "template": "{{ x }}"}]
    edit(folder / "tokenizer_config.json", lambda c: c.update(chat_template=named))
    assert huggingface.open_folder(folder).tokenizer.chat_template == "{{ x }}"


def test_tokens_that_the_model_has_no_logit_for_are_left_out(folder: Path) -> None:
    image = {"id": 320, "content": "<image_soft_token>", "special": True, "normalized": False}
    plain = {"single_word": False, "lstrip": False, "rstrip": False}
    edit(folder / "tokenizer.json", lambda c: c["added_tokens"].append({**image, **plain}))
    text = huggingface.open_folder(folder).tokenizer.json
    assert "image_soft_token" not in text


def test_a_tokenizer_neither_cuts_nor_pads_prompts(folder: Path) -> None:
    limits = {
        "truncation": {
            "direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0,
        },
        "padding": {
            "strategy": {"Fixed": 64}, "direction": "Right", "pad_to_multiple_of": None,
            "pad_id": 0, "pad_type_id": 0, "pad_token": "<s>",
        },
    }  # fmt: skip
    edit(folder / "tokenizer.json", lambda c: c.update(limits))
    text = huggingface.open_folder(folder).tokenizer.json
    assert len(Tokenizer.from_str(text).encode("seven bytes").ids) == 12


def test_shards_are_read_like_one_file(folder: Path) -> None:
    want = load_file(folder / "model.safetensors")
    names = sorted(want)
    parts = {"a.safetensors": names[:20], "b.safetensors": names[20:]}
    for file, part in parts.items():
        save_file({n: want[n].to(torch.bfloat16) for n in part}, folder / file)
    (folder / "model.safetensors").unlink()
    index = {"weight_map": {n: file for file, part in parts.items() for n in part}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    tensors = huggingface.open_folder(folder).tensors
    assert sorted(tensors.names()) == names
    for name in names:
        assert tensors.shape(name) == tuple(want[name].shape)
        assert torch.equal(tensors.load(name), want[name].to(torch.bfloat16).float())

    (folder / "b.safetensors").unlink()
    with pytest.raises(SourceError, match=r"b\.safetensors is missing\. Copy all shards"):
        huggingface.open_folder(folder)
    index["weight_map"][names[0]] = "../a.safetensors"
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(SourceError, match="must be a file beside the index"):
        huggingface.open_folder(folder)


def _cut(path: Path, share: float) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: shutil.rmtree(f), "is not a folder"),
        (lambda f: (f / "config.json").unlink(), r"config\.json is missing"),
        (lambda f: _cut(f / "config.json", 0.5), r"config\.json can't be read as JSON"),
        (lambda f: (f / "config.json").write_text("[]"), r"config\.json must hold a JSON object"),
        (lambda f: (f / "model.safetensors").unlink(), r"model\.safetensors is missing"),
        (
            lambda f: (f / "model.safetensors").rename(f / "pytorch_model.bin"),
            r"weights in pytorch_model\.bin",
        ),
        (lambda f: _cut(f / "model.safetensors", 0.5), r"model\.safetensors is damaged or cut"),
        (lambda f: _cut(f / "model.safetensors", 0.0), r"model\.safetensors is damaged or cut"),
        (lambda f: (f / "tokenizer.json").unlink(), r"tokenizer\.json is missing"),
        (lambda f: _cut(f / "tokenizer.json", 0.9), r"tokenizer\.json can't be read as JSON"),
        (lambda f: edit(f / "tokenizer.json", lambda c: c.pop("model")), "model is missing"),
        (lambda f: edit(f / "tokenizer.json", lambda c: c["model"].pop("vocab")), "vocab is miss"),
        (
            lambda f: edit(f / "tokenizer.json", lambda c: c["model"].pop("merges")),
            r"tokenizer\.json can't be loaded",
        ),
        (
            lambda f: edit(f / "tokenizer.json", lambda c: c["model"]["vocab"].update(x=999)),
            "token ids up to 999, but the model has 320 logits",
        ),
        (
            lambda f: edit(f / "tokenizer_config.json", lambda c: c.update(eos_token="</s>")),
            "the end-of-sequence token '</s>' is not among",
        ),
        (
            lambda f: edit(f / "generation_config.json", lambda c: c.update(eos_token_id="1")),
            r"generation_config\.json: eos_token_id must be a token id",
        ),
        (
            lambda f: edit(f / "generation_config.json", lambda c: c.update(bos_token_id=[-2])),
            "bos_token_id must be a token id",
        ),
        (
            lambda f: (f / "chat_template.jinja").write_text("{% if %}"),
            "chat template is not valid Jinja, line 1",
        ),
        (
            lambda f: (f / "chat_template.jinja").write_text("{{ messages | shout }}"),
            "chat template is not valid Jinja, line 1: No filter named 'shout'",
        ),
        (
            lambda f: (f / "chat_template.jinja").write_text("(" * 9 + "{{ " + "(" * 5000),
            "chat template is",
        ),
        (
            lambda f: (f / "config.json").write_text('{"vocab_size": ' + "9" * 5000 + "}"),
            r"config\.json can't be read as JSON",
        ),
        (
            lambda f: edit(f / "generation_config.json", lambda c: c.update(eos_token_id=10**400)),
            "eos_token_id must be a token id",
        ),
        (
            lambda f: edit(
                f / "generation_config.json",
                lambda c: c.update(do_sample=True, temperature=10**400),
            ),
            "temperature is 10*…, but must be finite",
        ),
        (
            lambda f: edit(
                f / "tokenizer.json",
                lambda c: c.update(model={"type": "Unigram", "unk_id": None, "vocab": []}),
            ),
            r"tokenizer\.json",
        ),
    ],
)
def test_what_is_wrong_is_named(
    folder: Path, damage: Callable[[Path], object], message: str
) -> None:
    damage(folder)
    with pytest.raises(SourceError, match=message):
        huggingface.open_folder(folder)


def test_a_generation_that_would_never_end_is_refused(tiny: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny / "llama", tmp_path / "model"))
    for file in ("config.json", "generation_config.json"):
        edit(folder / file, lambda c: c.pop("eos_token_id"))
    edit(folder / "tokenizer_config.json", lambda c: c.pop("eos_token"))
    text = (folder / "tokenizer.json").read_text().replace("<|eot_id|>", "<|other|>")
    (folder / "tokenizer.json").write_text(text)
    with pytest.raises(SourceError, match="generation would never end"):
        huggingface.open_folder(folder)


def test_weights_that_are_no_numbers_or_quantised_are_refused(folder: Path) -> None:
    state = load_file(folder / "model.safetensors")
    state["model.norm.weight"][3] = torch.nan
    state["model.layers.0.mlp.up_proj.weight"] = torch.ones(96, 64, dtype=torch.int8)
    save_file(state, folder / "model.safetensors")
    tensors = huggingface.open_folder(folder).tensors
    with pytest.raises(SourceError, match=r"'model\.norm\.weight' has values that are NaN"):
        tensors.load("model.norm.weight")
    with pytest.raises(UnsupportedError, match="is of type I8"):
        tensors.load("model.layers.0.mlp.up_proj.weight")


@pytest.mark.parametrize(
    ("card", "licence"),
    [
        ("---\nlanguage: en\nlicense: apache-2.0\ntags:\n- x\n---\ntext", "apache-2.0"),
        ("---\nlicense: 'mit'\n---\n", "mit"),
        ("---\nlicense: other\nlicense_name: gemma\n---\n", "gemma"),
        ("license: mit\n", None),
        ("---\nlicense_link: x\n---\n", None),
    ],
)
def test_the_licence_is_the_model_cards(tmp_path: Path, card: str, licence: str | None) -> None:
    (tmp_path / "README.md").write_text(card)
    assert huggingface.licence(tmp_path) == licence
