"""Configurations that can't be exported say so, with file and field."""

from __future__ import annotations

from typing import Any

import decoder_models as models
import pytest
import torch

from nearside_export.architectures.decoder import families, weights
from nearside_export.errors import ExportError, SourceError, UnsupportedError
from nearside_export.sources.fields import Fields

LLAMA = {
    "model_type": "llama",
    **models.SIZES,
    "hidden_act": "silu",
    "rms_norm_eps": 1e-5,
    "rope_theta": 1e4,
}
GEMMA = {
    "model_type": "gemma3_text",
    **models.SIZES,
    **models.GEMMA,
    "hidden_activation": "gelu_pytorch_tanh",
    "rms_norm_eps": 1e-6,
    "rope_theta": 1e6,
    "rope_local_base_freq": 1e4,
}


def read(config: dict[str, Any], **changes: Any) -> Any:  # noqa: ANN401
    return families.read(Fields({**config, **changes}, "config.json"))


@pytest.mark.parametrize(
    ("config", "field"),
    [(c, f) for c in (LLAMA, GEMMA) for f in c if not (c is LLAMA and f == "num_key_value_heads")],
)
def test_a_missing_field_is_named(config: dict[str, Any], field: str) -> None:
    broken = {name: value for name, value in config.items() if name != field}
    with pytest.raises(SourceError, match=rf"config\.json: {field} is missing"):
        read(broken)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hidden_size": "48"}, "hidden_size must be a whole number"),
        ({"hidden_size": -1}, "hidden_size is -1, but must be at least 1"),
        ({"rms_norm_eps": float("nan")}, "rms_norm_eps is nan"),
        ({"rms_norm_eps": 0.0}, "must be finite and above 0"),
        ({"num_attention_heads": 5}, "not a multiple of num_key_value_heads, 2"),
        ({"head_dim": 7}, "need an even one"),
        ({"num_hidden_layers": 5000}, "more than 1024"),
        ({"tie_word_embeddings": 1}, "must be true or false"),
        ({"rope_scaling": {"rope_type": "linear"}}, "rope_scaling.factor is missing"),
        ({"rope_scaling": "linear"}, "rope_scaling must be an object"),
    ],
)
def test_a_malformed_value_is_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SourceError, match=message):
        read({**LLAMA, "head_dim": 8}, **changes)


@pytest.mark.parametrize(
    ("config", "changes", "message"),
    [
        (LLAMA, {"model_type": "mamba"}, "'mamba', which `generate` can't export; known: llama"),
        (LLAMA, {"architectures": ["LlamaForSequenceClassification"]}, "does not write text"),
        (LLAMA, {"num_local_experts": 8}, "mixtures of experts"),
        (LLAMA, {"quantization_config": {"bits": 4}}, "quantised already"),
        (LLAMA, {"hidden_act": "relu"}, "hidden_act is 'relu'"),
        (LLAMA, {"partial_rotary_factor": 0.5}, "partial rotary"),
        (LLAMA, {"rope_scaling": {"type": "yarn", "factor": 4.0}}, "'yarn', which can't be"),
        (LLAMA, {"rope_scaling": {"rope_type": "dynamic", "factor": 2.0}}, "'dynamic'"),
        (LLAMA, {"rope_parameters": {"rope_theta": 1.5, "mrope_section": [1]}}, "mrope_section"),
        (GEMMA, {"attn_logit_softcapping": 50.0}, "attn_logit_softcapping is 50.0"),
        (GEMMA, {"use_bidirectional_attention": True}, "only causal"),
        (GEMMA, {"layer_types": ["chunked_attention"] * 2}, "chunked_attention"),
    ],
)
def test_what_can_not_be_exported_is_refused(
    config: dict[str, Any], changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(UnsupportedError, match=message):
        read(config, **changes)


def test_a_multimodal_configuration_takes_what_its_text_part_leaves_out() -> None:
    text = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 12}
    config = read({"model_type": "gemma3", "text_config": text, "vision_config": {}})
    assert (config.vocab_size, config.heads, config.kv_heads, config.head_dim) == (
        262208,
        8,
        4,
        256,
    )
    assert [layer.window for layer in config.layers] == ([4096] * 5 + [0]) * 2
    assert config.layers[0].rope.theta == 1e4
    assert config.layers[5].rope.theta == 1e6
    assert config.tied


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.pop("model.layers.1.mlp.up_proj.weight"), "up_proj.weight' is missing"),
        (lambda s: s.pop("model.embed_tokens.weight"), "no tensor 'model.embed_tokens.weight'"),
        (lambda s: s.pop("lm_head.weight"), "tie_word_embeddings may be wrong"),
        (
            lambda s: s.update({"model.norm.weight": torch.ones(47)}),
            r"shape \[47\], but the configuration asks for \[48\]",
        ),
        (
            lambda s: s.update({"model.layers.0.self_attn.q_proj.bias": torch.ones(48)}),
            "q_proj.bias' has no place in the model",
        ),
        (
            lambda s: s.update({"model.layers.2.mlp.up_proj.weight": torch.ones(80, 48)}),
            "layers.2.mlp.up_proj.weight' has no place",
        ),
    ],
)
def test_weights_that_do_not_fit_are_named(change: Any, message: str) -> None:  # noqa: ANN401
    state = dict(models.llama().state_dict())
    change(state)
    with pytest.raises(SourceError, match=message):
        weights.load(read(LLAMA), models.StateDict(state), 16)


@pytest.mark.parametrize("changes", [{"hidden_size": 6 * 2**45}, {"head_dim": 2**40}])
def test_sizes_that_the_weights_do_not_have_take_no_memory(changes: dict[str, int]) -> None:
    state = dict(models.llama().state_dict())
    with pytest.raises(SourceError, match="belong to different models"):
        weights.load(read(LLAMA, **changes), models.StateDict(state), 16)


def test_a_cache_that_does_not_fit_is_refused() -> None:
    state = dict(models.llama().state_dict())
    with pytest.raises(ExportError, match="choose a smaller --context"):
        weights.load(read(LLAMA), models.StateDict(state), 2**45)


def test_a_head_that_differs_from_the_embeddings_it_is_tied_to_is_refused() -> None:
    state = dict(models.llama().state_dict())
    with pytest.raises(SourceError, match="differs from the embeddings"):
        weights.load(read(LLAMA, tie_word_embeddings=True), models.StateDict(state), 16)
