"""A GGUF file as a source: llama.cpp's names, layouts and metadata turned back to Hugging Face's.

What llama.cpp's converter (convert_hf_to_gguf.py) does to a model is undone here: rows of Llama's
query and key projections are interleaved for its RoPE, Gemma's norms have one added.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nearside_export.errors import SourceError, UnsupportedError
from nearside_export.sources.fields import Fields
from nearside_export.sources.gguf_file import MAGIC, GgufFile, TensorInfo
from nearside_export.sources.gguf_tokenizer import read_tokenizer
from nearside_export.sources.model import ModelSource, QuantisedBlocks
from nearside_export.sources.safetensors import finite

if TYPE_CHECKING:
    import torch

ARCHITECTURES = {"llama": "llama", "qwen3": "qwen3", "gemma3": "gemma3_text"}
"""GGUF's ``general.architecture`` to Hugging Face's model type."""

_WHOLE = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
_LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_GEMMA_LAYER = {
    **_LAYER,
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}
ROPE_FACTORS = "rope_freqs.weight"
_LAYER_NAME = re.compile(r"blk\.(\d{1,5})\.([a-z_]+)\.(weight|bias)")
_BITS = {"Q4_0": 4, "Q4_1": 4, "Q8_0": 8}
_GROUP = 32
"""Columns that share a scale in these types."""


def looks_like(path: Path) -> bool:
    """Whether a file begins as GGUF files do."""
    try:
        with path.open("rb") as file:
            return file.read(4) == MAGIC
    except OSError:
        return False


def open_file(path: Path) -> ModelSource:
    """Open a GGUF file; weights are read later, one tensor at a time.

    `SourceError` for a file that is damaged, cut short or lacks a key; `UnsupportedError` for an
    architecture, a tensor or a tokenizer that is not known.
    """
    file = GgufFile(path)
    metadata = Fields(file.metadata, path.name)
    architecture = metadata.text("general.architecture")
    if architecture not in ARCHITECTURES:
        raise UnsupportedError(
            f"{metadata.name('general.architecture')} is {architecture!r}, which can't be "
            f"exported; known: {', '.join(ARCHITECTURES)}"
        )
    config = Fields(_config(metadata, architecture, file), path.name)
    tokenizer = read_tokenizer(metadata, config.integer("vocab_size"), architecture)
    return ModelSource(
        name=path.name.removesuffix(".gguf"),
        origin=f"GGUF file {path.name}",
        licence=metadata.text("general.license", None),
        config=config,
        tensors=GgufTensors(file, architecture, config),
        tokenizer=tokenizer,
    )


class GgufTensors:
    """Tensors of a GGUF file by Hugging Face's names."""

    def __init__(self, file: GgufFile, architecture: str, config: Fields) -> None:
        self._file = file
        self._gemma = architecture == "gemma3"
        self._names: dict[str, str] = {}
        for name in file.tensors:
            if name != ROPE_FACTORS:
                self._names[_translate(name, file.path, self._gemma)] = name
        self._heads = {}
        if architecture == "llama":
            heads = config.integer("num_attention_heads")
            self._heads = {"q_proj": heads, "k_proj": config.integer("num_key_value_heads", heads)}

    def kinds(self) -> set[str]:
        """Ggml's types of the layers' matrices, such as ``Q4_0``."""
        placed = self._file.tensors
        return {
            info.kind.name
            for name, info in placed.items()
            if name.startswith("blk.") and len(info.shape) == 2
        }

    def names(self) -> list[str]:
        """All names."""
        return list(self._names)

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of a tensor that exists."""
        return self._info(name).shape

    def load(self, name: str) -> torch.Tensor:
        """Read a tensor as f32, dequantised."""
        import torch

        tensor = torch.from_numpy(_dequantise(self._file, self._names[name]))
        if (order := self._row_order(name)) is not None:
            tensor = tensor[order]
        if self._gemma and name.endswith("norm.weight"):
            tensor = tensor - 1.0
        return finite(tensor, name, self._file.path)

    def blocks(self, name: str) -> QuantisedBlocks | None:
        """Read a Q4_0, Q4_1 or Q8_0 matrix as it is; null for every other type."""
        import torch

        info = self._info(name)
        kind = info.kind.name
        if kind not in _BITS or len(info.shape) != 2:
            return None
        rows, columns = info.shape
        raw = self._file.data(self._names[name]).reshape(rows, columns // _GROUP, -1)
        scales, packed = self._halves(raw[..., :2], name), raw[..., 2:]
        offsets = None
        if kind == "Q8_0":
            ints = packed.copy().view(np.int8)
        else:
            if kind == "Q4_1":
                # Its integers are 0..15 above a minimum; ours are 8 less.
                offsets = self._halves(packed[..., :2], name) + 8 * scales
                packed = packed[..., 2:]
            # The low halves of 16 bytes are columns 0..15, the high halves 16..31.
            low, high = packed & 0x0F, packed >> 4
            ints = np.concatenate([low, high], axis=-1).astype(np.int8) - 8
        values = torch.from_numpy(np.ascontiguousarray(ints.reshape(rows, columns)))
        if (order := self._row_order(name)) is not None:
            values, scales = values[order], scales[order]
            offsets = None if offsets is None else offsets[order]
        return QuantisedBlocks(kind.lower(), _BITS[kind], _GROUP, values, scales, offsets)

    def _halves(self, raw: np.ndarray, name: str) -> torch.Tensor:
        """Read each block's f16 number, of u8 ``[rows, groups, 2]``, as f32 ``[rows, groups]``."""
        import torch

        values = raw.copy().view(np.float16).astype(np.float32)[..., 0]
        return finite(torch.from_numpy(values.copy()), name, self._file.path)

    def _info(self, name: str) -> TensorInfo:
        return self._file.tensors[self._names[name]]

    def _row_order(self, name: str) -> torch.Tensor | None:
        """Rows of a Llama query or key projection in Hugging Face's order; null for others."""
        import torch

        heads = self._heads.get(name.split(".")[-2])
        if heads is None:
            return None
        rows = self._info(name).shape[0]
        if rows % (2 * heads):
            raise SourceError(
                f"{self._file.path}: tensor {self._names[name]!r} has {rows} rows, which are not "
                f"{heads} heads of an even size. Fetch it again"
            )
        # llama.cpp pairs neighbours, Hugging Face an element and the one half a head away.
        pairs = torch.arange(rows).view(heads, rows // heads // 2, 2)
        return pairs.transpose(1, 2).reshape(-1)


def _translate(name: str, path: Path, gemma: bool) -> str:
    if name in _WHOLE:
        return _WHOLE[name]
    parts = _LAYER_NAME.fullmatch(name)
    layer = _GEMMA_LAYER if gemma else _LAYER
    if parts is None or parts[2] not in layer:
        raise UnsupportedError(
            f"{path}: tensor {name!r} has no place in the models that can be exported"
        )
    return f"model.layers.{int(parts[1])}.{layer[parts[2]]}.{parts[3]}"


def _dequantise(file: GgufFile, name: str) -> np.ndarray:
    from gguf.quants import dequantize

    info = file.tensors[name]
    data = file.data(name)
    if info.kind.name == "F32":
        values = data.view("<f4")
    elif info.kind.name == "F16":
        values = data.view("<f2").astype(np.float32)
    else:
        try:
            values = dequantize(data.reshape(-1, info.bytes), info.kind)
        except NotImplementedError as error:
            raise UnsupportedError(
                f"{file.path}: tensor {name!r} is {info.kind.name}, which can't be read: {error}"
            ) from error
    return np.array(values, dtype=np.float32).reshape(info.shape)


def _config(metadata: Fields, architecture: str, file: GgufFile) -> dict[str, Any]:
    def key(name: str) -> str:
        return f"{architecture}.{name}"

    embedding = file.tensors.get("token_embd.weight")
    if embedding is None or len(embedding.shape) != 2:
        raise SourceError(
            f"{file.path}: tensor 'token_embd.weight' is missing or no matrix: not a whole "
            "language model. Fetch it again"
        )
    metadata.refuse(key("expert_count"), "mixtures of experts can't be exported yet", (0,))
    hidden = metadata.integer(key("embedding_length"))
    heads = metadata.integer(key("attention.head_count"))
    head_dim = metadata.integer(key("attention.key_length"), None)
    if head_dim is None:
        if architecture != "llama":
            metadata.integer(key("attention.key_length"))  # raises: missing
        head_dim = metadata.integer(key("rope.dimension_count"), hidden // heads)
    value_dim = metadata.integer(key("attention.value_length"), head_dim)
    rotated = metadata.integer(key("rope.dimension_count"), head_dim)
    if value_dim != head_dim or rotated != head_dim:
        raise UnsupportedError(
            f"{file.path}: keys have {head_dim} elements, values {value_dim} and {rotated} are "
            "rotated; they must be equal to be exported"
        )
    config: dict[str, Any] = {
        "model_type": ARCHITECTURES[architecture],
        "vocab_size": embedding.shape[0],
        "hidden_size": hidden,
        "intermediate_size": metadata.integer(key("feed_forward_length")),
        "num_hidden_layers": metadata.integer(key("block_count")),
        "num_attention_heads": heads,
        "num_key_value_heads": metadata.integer(key("attention.head_count_kv"), heads),
        "head_dim": head_dim,
        "max_position_embeddings": metadata.integer(key("context_length")),
        "rms_norm_eps": metadata.number(key("attention.layer_norm_rms_epsilon")),
        "attention_bias": "blk.0.attn_q.bias" in file.tensors,
        "mlp_bias": "blk.0.ffn_gate.bias" in file.tensors,
        "tie_word_embeddings": "output.weight" not in file.tensors,
    }
    rope = _rope(metadata, architecture, file)
    if architecture != "gemma3":
        metadata.refuse(key("attention.sliding_window"), "sliding windows are Gemma's only", (0,))
        return {**config, "hidden_act": "silu", "rope_parameters": rope}
    # What llama.cpp's Gemma 3 graph does without saying so in the file (llama-model.cpp).
    large = config["num_hidden_layers"] == 62
    local = metadata.number(key("rope.freq_base_swa"), 10_000.0)
    return {
        **config,
        "hidden_activation": "gelu_pytorch_tanh",
        "query_pre_attn_scalar": hidden // heads if large else head_dim,
        "sliding_window": metadata.integer(key("attention.sliding_window")),
        "sliding_window_pattern": 6,
        "final_logit_softcapping": metadata.number(key("final_logit_softcapping"), None),
        "rope_parameters": {
            "full_attention": rope,
            "sliding_attention": {"rope_type": "default", "rope_theta": local},
        },
    }


def _rope(metadata: Fields, architecture: str, file: GgufFile) -> dict[str, Any]:
    default = {"llama": 10_000.0, "gemma3": 1_000_000.0}.get(architecture)
    base = f"{architecture}.rope.freq_base"
    theta = metadata.number(base) if default is None else metadata.number(base, default)
    kind = metadata.text(f"{architecture}.rope.scaling.type", "none")
    if ROPE_FACTORS in file.tensors:
        factors = _dequantise(file, ROPE_FACTORS).reshape(-1).tolist()
        return {"rope_type": "factors", "rope_theta": theta, "factors": factors}
    if kind == "none":
        return {"rope_type": "default", "rope_theta": theta}
    factor = metadata.number(f"{architecture}.rope.scaling.factor", 1.0)
    return {"rope_type": kind, "rope_theta": theta, "factor": factor}
