"""Tiny Llama, Qwen3 and Gemma 3 (text): every feature of the family in two or three layers.

Sizes are multiples of 32, so that group-wise quantisation has something to do.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from nearside_export.architectures.decoder import families, weights
from nearside_export.architectures.decoder.model import Decoder
from nearside_export.recipes import byte_tokenizer, files
from nearside_export.sources.fields import Fields

_SIZES = {
    "vocab_size": 320,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_attention_heads": 4,
    "max_position_embeddings": 256,
    "torch_dtype": "float32",
}

_CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_LLAMA3 = (
    "{{ bos_token }}{% for m in messages %}<|start_header_id|>{{ m['role'] }}<|end_header_id|>\n\n"
    "{{ m['content'] }}<|eot_id|>{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
)
_GEMMA = (
    "{{ bos_token }}{% for m in messages %}<start_of_turn>{{ m['role'] }}\n{{ m['content'] }}"
    "<end_of_turn>\n{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)


def llama(folder: Path) -> None:
    """Write a Llama: grouped queries, Llama 3's RoPE scaling, a head of its own."""
    special = ["<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>"]
    ids = byte_tokenizer.write(folder, [*special, "<|eot_id|>"], bos=special[0])
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        **_SIZES,
        "num_hidden_layers": 2,
        "num_key_value_heads": 2,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-5,
        "rope_theta": 500000.0,
        "rope_scaling": {
            "rope_type": "llama3",
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 64,
        },
        "tie_word_embeddings": False,
        "bos_token_id": ids[special[0]],
        "eos_token_id": ids[special[1]],
    }
    _write(folder, config, special[0], special[1], _LLAMA3)


def qwen3(folder: Path) -> None:
    """Write a Qwen3: normalised queries and keys, heads of 24 in a stream of 64, tied head."""
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    ids = byte_tokenizer.write(folder, special)
    config = {
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        **_SIZES,
        "num_hidden_layers": 2,
        "num_key_value_heads": 2,
        "head_dim": 24,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-6,
        "rope_theta": 1000000.0,
        "tie_word_embeddings": True,
        "use_sliding_window": False,
        "eos_token_id": ids["<|im_end|>"],
    }
    _write(folder, config, None, "<|im_end|>", _CHATML)


def gemma3_text(folder: Path) -> None:
    """Write a Gemma 3: two sliding layers, a full one with scaled RoPE, one key head."""
    special = ["<pad>", "<eos>", "<bos>", "<start_of_turn>", "<end_of_turn>"]
    ids = byte_tokenizer.write(folder, special, bos="<bos>")
    config = {
        "architectures": ["Gemma3ForCausalLM"],
        "model_type": "gemma3_text",
        **_SIZES,
        "num_hidden_layers": 3,
        "num_key_value_heads": 1,
        "head_dim": 32,
        "hidden_activation": "gelu_pytorch_tanh",
        "rms_norm_eps": 1e-6,
        "query_pre_attn_scalar": 24,
        "sliding_window": 8,
        "layer_types": ["sliding_attention", "sliding_attention", "full_attention"],
        "rope_parameters": {
            "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
            "full_attention": {"rope_type": "linear", "rope_theta": 1000000.0, "factor": 8.0},
        },
        "tie_word_embeddings": True,
        "pad_token_id": ids["<pad>"],
        "bos_token_id": ids["<bos>"],
        "eos_token_id": [ids["<eos>"], ids["<end_of_turn>"]],
    }
    _write(folder, config, "<bos>", "<eos>", _GEMMA)


def _write(folder: Path, config: dict[str, Any], bos: str | None, eos: str, template: str) -> None:
    files.write_json(folder / "config.json", config)
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": bos, "eos_token": eos}
    files.write_json(folder / "tokenizer_config.json", settings)
    files.write_json(
        folder / "generation_config.json",
        {name: config[name] for name in ("bos_token_id", "eos_token_id") if name in config},
    )
    (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    files.write_card(folder)

    read = families.read(Fields(config, "config.json"))
    with torch.device("meta"):
        model = Decoder(read, context_length=1)
    names = weights.source_names(model, {"model.embed_tokens.weight"})
    shapes = {names[n]: tuple(p.shape) for n, p in model.named_parameters()}
    centre = 1.0 - read.norm_offset

    def scale(name: str, shape: tuple[int, ...]) -> tuple[float, float]:
        if len(shape) == 1:
            return (centre, 0.2) if "norm" in name else (0.0, 0.2)
        return 0.0, 0.2 if "embed" in name else 1.5 * shape[1] ** -0.5

    files.write_weights(folder, shapes, scale)
