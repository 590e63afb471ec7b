"""Tiny random models of transformers' own, the reference for ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from transformers import (
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from nearside_export.architectures.decoder import families, weights
from nearside_export.architectures.decoder.model import Decoder
from nearside_export.sources.fields import Fields

# Such small products are slower on several threads, far slower on a busy machine.
torch.set_num_threads(1)

VOCABULARY = 97
CONTEXT = 64
SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": 48,
    "intermediate_size": 80,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": CONTEXT,
}
LLAMA3_ROPE = {
    "rope_type": "llama3",
    "rope_theta": 500.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
GEMMA_ROPE = {
    "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
    "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
}
GEMMA = {"head_dim": 12, "sliding_window": 6, "query_pre_attn_scalar": 20}


def llama(**changes: Any) -> LlamaForCausalLM:  # noqa: ANN401
    return _filled(LlamaForCausalLM, LlamaConfig(**{**SIZES, **changes}))


def qwen3(**changes: Any) -> Qwen3ForCausalLM:  # noqa: ANN401
    return _filled(Qwen3ForCausalLM, Qwen3Config(**{**SIZES, "head_dim": 14, **changes}))


def gemma3(**changes: Any) -> Gemma3ForCausalLM:  # noqa: ANN401
    return _filled(Gemma3ForCausalLM, Gemma3TextConfig(**{**SIZES, **GEMMA, **changes}))


CASES = {
    "llama, groups of 3": lambda: llama(),
    "llama, groups of 1, biases, tied": lambda: llama(
        num_key_value_heads=6, attention_bias=True, mlp_bias=True, tie_word_embeddings=True
    ),
    "llama, one key head, heads of 10": lambda: llama(num_key_value_heads=1, head_dim=10),
    "llama, llama3 rope": lambda: llama(rope_parameters=LLAMA3_ROPE),
    "llama, linear rope": lambda: llama(
        rope_parameters={"rope_type": "linear", "rope_theta": 500.0, "factor": 4.0}
    ),
    "qwen3, tied": lambda: qwen3(tie_word_embeddings=True),
    "qwen3, sliding after one layer, biases": lambda: qwen3(
        use_sliding_window=True, sliding_window=5, max_window_layers=1, attention_bias=True
    ),
    "gemma3, sliding and full": lambda: gemma3(
        num_hidden_layers=3,
        layer_types=["sliding_attention", "full_attention", "sliding_attention"],
    ),
    "gemma3, scaled rope, capped logits": lambda: gemma3(
        num_key_value_heads=6,
        layer_types=["sliding_attention", "full_attention"],
        final_logit_softcapping=7.0,
        rope_parameters=GEMMA_ROPE,
    ),
}


@dataclass(frozen=True)
class StateDict:
    """`Tensors` of a module in memory."""

    state: dict[str, torch.Tensor]

    def names(self) -> list[str]:
        return list(self.state)

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(self.state[name].shape)

    def load(self, name: str) -> torch.Tensor:
        return self.state[name].float().clone()

    def blocks(self, name: str) -> None:
        return None


def ours(reference: PreTrainedModel, attention: str = "plain") -> Decoder:
    """Read a transformers model as the exporter reads a folder."""
    config = families.read(Fields(reference.config.to_dict(), "config.json"))
    state = dict(reference.state_dict())
    if config.tied:
        del state["lm_head.weight"]
    return weights.load(config, StateDict(state), CONTEXT, attention)


def text(length: int) -> torch.Tensor:
    return torch.randint(0, VOCABULARY, (1, length), generator=torch.Generator().manual_seed(3))


def want(reference: PreTrainedModel, tokens: torch.Tensor) -> torch.Tensor:
    """Logits of all positions, f32 ``[S, vocab]``."""
    with torch.no_grad():
        return reference(tokens).logits[0]


def _filled(kind: type[PreTrainedModel], config: Any) -> PreTrainedModel:  # noqa: ANN401
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    model = kind(config).eval().float()
    centre = 0.0 if "gemma" in config.model_type else 1.0
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1:
                parameter.normal_(0.0, 0.25)
            else:
                parameter.normal_(centre if "norm" in name else 0.0, 0.3)
    model.tie_weights()
    return model
