"""GGUF files: the same model as its Hugging Face folder, and errors for whatever is damaged."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from gguf.quants import quantize
from tokenizers import Tokenizer

from nearside_export.architectures.decoder import families, weights
from nearside_export.errors import ExportError, SourceError, UnsupportedError
from nearside_export.recipes import registry
from nearside_export.sources import gguf as source
from nearside_export.sources import huggingface
from nearside_export.sources.gguf_file import GgufFile

F32, Q4_0, Q8_0, Q4_1 = (
    getattr(gguf.GGMLQuantizationType, n) for n in ("F32", "Q4_0", "Q8_0", "Q4_1")
)
NAMES = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
LLAMA_NAMES = {**NAMES, "post_attention_layernorm": "ffn_norm"}
GEMMA_NAMES = {
    **NAMES,
    "post_attention_layernorm": "post_attention_norm",
    "pre_feedforward_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm",
}


def convert(folder: Path, out: Path, kind: Any = F32, drop: str = "", **extra: Any) -> Path:  # noqa: ANN401
    """Write a tiny model's folder as GGUF, as llama.cpp's convert_hf_to_gguf.py does."""
    config = json.loads((folder / "config.json").read_text())
    arch = {"gemma3_text": "gemma3"}.get(config["model_type"], config["model_type"])
    writer = gguf.GGUFWriter(out, arch)
    writer.add_license("apache-2.0")
    numbers = {
        "context_length": config["max_position_embeddings"],
        "block_count": config["num_hidden_layers"],
        "embedding_length": config["hidden_size"],
        "feed_forward_length": config["intermediate_size"],
        "attention.head_count": config["num_attention_heads"],
        "attention.head_count_kv": config["num_key_value_heads"],
    }
    if "head_dim" in config:
        numbers["attention.key_length"] = numbers["attention.value_length"] = config["head_dim"]
    if arch == "gemma3":
        numbers["attention.sliding_window"] = config["sliding_window"]
    for name, value in {**numbers, **extra}.items():
        if name != drop:
            writer.add_uint32(f"{arch}.{name}", value)
    writer.add_float32(f"{arch}.attention.layer_norm_rms_epsilon", config["rms_norm_eps"])
    writer.add_float32(f"{arch}.rope.freq_base", config.get("rope_theta", 1e6))
    if arch == "gemma3":
        writer.add_string("gemma3.rope.scaling.type", "linear")
        writer.add_float32("gemma3.rope.scaling.factor", 8.0)
    _tokenizer(writer, folder, config)
    tensors = huggingface.open_folder(folder).tensors
    for name in tensors.names():
        data = tensors.load(name).numpy()
        if arch == "llama" and ("q_proj" in name or "k_proj" in name):
            heads = config["num_attention_heads" if "q_proj" in name else "num_key_value_heads"]
            rows = data.reshape(heads, 2, data.shape[0] // heads // 2, *data.shape[1:])
            data = rows.swapaxes(1, 2).reshape(data.shape)
        if arch == "gemma3" and name.endswith("norm.weight"):
            data = data + 1
        stored = kind if data.ndim == 2 and data.shape[1] % 32 == 0 else F32
        writer.add_tensor(_name(name, arch), quantize(data, stored), raw_dtype=stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return out


def _name(name: str, arch: str) -> str:
    whole = {
        "model.embed_tokens.weight": "token_embd.weight",
        "model.norm.weight": "output_norm.weight",
        "lm_head.weight": "output.weight",
    }
    if name in whole:
        return whole[name]
    _, _, layer, rest = name.split(".", 3)
    part, _, leaf = rest.rpartition(".")
    return f"blk.{layer}.{(GEMMA_NAMES if arch == 'gemma3' else LLAMA_NAMES)[part]}.{leaf}"


def _tokenizer(writer: gguf.GGUFWriter, folder: Path, config: dict[str, Any]) -> None:
    raw = json.loads((folder / "tokenizer.json").read_text())
    vocabulary = sorted(raw["model"]["vocab"], key=raw["model"]["vocab"].get)
    special = {t["content"] for t in raw["added_tokens"]}
    kinds = [3 if t in special else 1 for t in vocabulary]
    unused = config["vocab_size"] - len(vocabulary)
    vocabulary += [f"[PAD{i}]" for i in range(unused)]
    kinds += [5] * unused
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(vocabulary)
    writer.add_token_types(kinds)
    writer.add_token_merges([" ".join(m) for m in raw["model"]["merges"]])
    eos = config["eos_token_id"]
    writer.add_eos_token_id(eos[0] if isinstance(eos, list) else eos)
    if "bos_token_id" in config:
        writer.add_bos_token_id(config["bos_token_id"])
        writer.add_add_bos_token(True)
    writer.add_chat_template((folder / "chat_template.jinja").read_text())


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tiny-gguf")
    for family in ("llama", "qwen3", "gemma3-text"):
        registry.write(family, root / family)
    return root


@pytest.mark.parametrize("family", ["llama", "qwen3", "gemma3-text"])
def test_a_file_is_the_same_model_as_its_folder(tiny: Path, tmp_path: Path, family: str) -> None:
    opened = source.open_file(convert(tiny / family, tmp_path / "model.gguf"))
    folder = huggingface.open_folder(tiny / family)
    assert sorted(opened.tensors.names()) == sorted(folder.tensors.names())
    for name in folder.tensors.names():
        assert torch.allclose(opened.tensors.load(name), folder.tensors.load(name), atol=1e-6)
    assert opened.licence == "apache-2.0"
    assert opened.tokenizer.bos_id == folder.tokenizer.bos_id
    assert opened.tokenizer.add_bos == folder.tokenizer.add_bos
    assert opened.tokenizer.eos_ids == folder.tokenizer.eos_ids
    assert opened.tokenizer.chat_template == folder.tokenizer.chat_template
    text = "the end, and Ünder <eos> 42!"
    want = Tokenizer.from_str(folder.tokenizer.json).encode(text).ids
    assert Tokenizer.from_str(opened.tokenizer.json).encode(text).ids == want

    config, expected = families.read(opened.config), families.read(folder.config)
    assert (config.heads, config.kv_heads, config.head_dim, config.tied) == (
        (expected.heads, expected.kv_heads, expected.head_dim, expected.tied)
    )
    assert config.norm_eps == pytest.approx(expected.norm_eps)
    weights.load(config, opened.tensors, 8)


def test_a_quantised_llama_equals_what_transformers_makes_of_the_file(
    tiny: Path, tmp_path: Path
) -> None:
    from transformers import AutoModelForCausalLM

    convert(tiny / "llama", tmp_path / "model.gguf", Q4_1)
    opened = source.open_file(tmp_path / "model.gguf")
    reference = AutoModelForCausalLM.from_pretrained(
        tmp_path, gguf_file="model.gguf", dtype=torch.float32, local_files_only=True
    )
    for name, want in reference.state_dict().items():
        assert torch.equal(opened.tensors.load(name), want), name
    assert opened.tensors.blocks("model.norm.weight") is None


@pytest.mark.parametrize(("kind", "low", "high"), [(Q4_0, -8, 7), (Q4_1, -8, 7), (Q8_0, -128, 127)])
def test_blocks_are_the_weights(
    tiny: Path,
    tmp_path: Path,
    kind: gguf.GGMLQuantizationType,
    low: int,
    high: int,
) -> None:
    opened = source.open_file(convert(tiny / "llama", tmp_path / "model.gguf", kind))
    for name in ("model.layers.0.self_attn.q_proj.weight", "model.layers.1.mlp.down_proj.weight"):
        blocks = opened.tensors.blocks(name)
        assert blocks.kind == kind.name.lower()
        assert blocks.ints.min() >= low
        assert blocks.ints.max() <= high
        scales = blocks.scales.repeat_interleave(blocks.group_size, dim=1)
        values = blocks.ints.float() * scales
        if kind == Q4_1:
            values = values + blocks.offsets.repeat_interleave(blocks.group_size, dim=1)
        torch.testing.assert_close(values, opened.tensors.load(name), rtol=0, atol=1e-6)
        want = huggingface.open_folder(tiny / "llama").tensors.load(name)
        assert (values - want).abs().max() < 0.1


def test_llama3_factors_in_the_file_replace_the_scaling(tiny: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    convert(tiny / "llama", path)
    config = source.open_file(path).config
    assert config.child("rope_parameters").text("rope_type") == "default"
    writer = gguf.GGUFWriter(tmp_path / "factors.gguf", "llama")
    writer.add_tensor("rope_freqs.weight", np.asarray([1, 1, 2, 2, 4, 4, 8, 8], dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    factors = GgufFile(tmp_path / "factors.gguf")
    from nearside_export.sources.fields import Fields

    rope = source._rope(Fields({"llama.rope.freq_base": 1e4}, "x"), "llama", factors)
    assert rope["factors"] == [1, 1, 2, 2, 4, 4, 8, 8]
    read = families.read(Fields({**config.raw, "rope_parameters": rope}, "x"))
    assert read.layers[0].rope.factors == (1, 1, 2, 2, 4, 4, 8, 8)


@pytest.mark.parametrize("drop", ["block_count", "embedding_length", "attention.head_count"])
def test_a_missing_key_is_named(tiny: Path, tmp_path: Path, drop: str) -> None:
    path = convert(tiny / "llama", tmp_path / "model.gguf", drop=drop)
    with pytest.raises(SourceError, match=rf"model\.gguf: llama\.{drop} is missing"):
        source.open_file(path)


def test_what_can_not_be_exported_is_refused(tiny: Path, tmp_path: Path) -> None:
    experts = convert(tiny / "llama", tmp_path / "a.gguf", expert_count=8)
    with pytest.raises(UnsupportedError, match="mixtures of experts"):
        source.open_file(experts)
    data = bytearray(convert(tiny / "llama", tmp_path / "b.gguf").read_bytes())
    at = data.index(b"general.architecture") + len("general.architecture") + 4
    assert data[at : at + 13] == struct.pack("<Q", 5) + b"llama"
    data[at + 8 : at + 13] = b"mamba"
    (tmp_path / "b.gguf").write_bytes(data)
    with pytest.raises(UnsupportedError, match="'mamba', which can't be exported; known: llama"):
        source.open_file(tmp_path / "b.gguf")
    pre = data.replace(b"mamba", b"llama", 1).replace(b"smollm", b"poro-x")
    (tmp_path / "c.gguf").write_bytes(pre)
    with pytest.raises(UnsupportedError, match=r"tokenizer\.ggml\.pre is 'poro-x'"):
        source.open_file(tmp_path / "c.gguf")


def test_a_file_that_is_cut_short_anywhere_is_an_error(tiny: Path, tmp_path: Path) -> None:
    whole = convert(tiny / "qwen3", tmp_path / "model.gguf").read_bytes()
    path = tmp_path / "cut.gguf"
    header = whole.index(b"token_embd.weight")
    for end in [0, 3, 4, 11, 20, *range(24, header + 400, 331), len(whole) - 1]:
        path.write_bytes(whole[:end])
        with pytest.raises(SourceError, match=r"cut\.gguf|cannot read|not a GGUF"):
            source.open_file(path)


def test_damaged_headers_are_errors_and_nothing_worse(tiny: Path, tmp_path: Path) -> None:
    whole = convert(tiny / "gemma3-text", tmp_path / "model.gguf").read_bytes()
    header = whole.index(b"output_norm.weight") + 200
    random = np.random.default_rng(5)
    path = tmp_path / "bad.gguf"
    refused = 0
    for _ in range(150):
        data = bytearray(whole)
        for at in random.integers(4, header, 3):
            data[at] = random.integers(0, 256)
        path.write_bytes(data)
        try:
            opened = source.open_file(path)
            weights.load(families.read(opened.config), opened.tensors, 4)
        except ExportError:
            refused += 1
    assert refused > 50


def test_lengths_that_would_take_all_memory_are_refused_at_once(tmp_path: Path) -> None:
    begin = b"GGUF" + struct.pack("<I", 3)
    key = struct.pack("<Q", 1) + b"k"
    for name, rest in {
        "tensors": struct.pack("<QQ", 2**60, 0),
        "entries": struct.pack("<QQ", 0, 2**60),
        "string": struct.pack("<QQ", 0, 1) + struct.pack("<Q", 2**63),
        "array": struct.pack("<QQ", 0, 1) + key + struct.pack("<IIQ", 9, 4, 2**40),
        "strings": struct.pack("<QQ", 0, 1) + key + struct.pack("<IIQ", 9, 8, 2**23),
        "shape": struct.pack("<QQ", 1, 0) + key + struct.pack("<IQQIQ", 2, 2**40, 2**40, 0, 0),
    }.items():
        path = tmp_path / f"{name}.gguf"
        path.write_bytes(begin + rest + bytes(64))
        with pytest.raises(SourceError):
            source.open_file(path)
