"""Our Gemma 3n in eager PyTorch beside transformers', layer by layer.

Each feature is also broken on purpose: the comparison must then fail, and say where.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
import torch
from gemma3n_reference import CONTEXT, Reference, build
from layer_trace import Trace, attach, first_difference

from nearside_export.architectures.decoder.attention import Core, PlainCore
from nearside_export.architectures.decoder.cache import keep_what_is_seen
from nearside_export.architectures.gemma3n import mlp, weights
from nearside_export.architectures.gemma3n.config import Config
from nearside_export.architectures.gemma3n.model import Gemma3n
from nearside_export.architectures.gemma3n.sparsity import GaussianTopK
from nearside_export.errors import SourceError, UnsupportedError

TOLERANCE = 4e-5


@pytest.fixture(scope="module")
def reference() -> Reference:
    return build()


def compare(reference: Reference, model: Gemma3n) -> str | None:
    """Say which quantity of which layer differs first, then whether the logits do."""
    trace = Trace()
    attach(model.text_decoder.layers, trace)
    model.text_decoder.every_row = True
    rows = reference.ids.shape[1]
    with torch.no_grad():
        logits = model(reference.ids, torch.arange(rows))[0]
    if found := first_difference(reference.layers, trace.outputs, TOLERANCE):
        return found
    error = float((logits - reference.logits).abs().max())
    return f"logits: {error:.2e}" if error > TOLERANCE else None


def test_every_layer_and_quantity_equals_transformers(reference: Reference) -> None:
    names = {name for _, name in reference.layers}
    assert {"laurel", "mlp", "self_attn", "self_attn.v_norm", ""} <= names
    assert compare(reference, reference.ours()) is None


def test_the_tiny_model_has_every_feature(reference: Reference) -> None:
    config = reference.config
    assert config.shared_kv_layers >= 2
    assert {config.layers[i].window for i in range(config.first_shared, 5)} == {0, 6}
    assert len({s for s in config.sparsity if s}) >= 3
    assert config.altup_inputs == 4
    # The layer that is shared is the last of two of its kind.
    assert config.kv_source(3) == 1


@pytest.mark.parametrize("chunk", [1, 4, 13, 24])
def test_chunked_prefill_and_decoding_equal_one_pass(reference: Reference, chunk: int) -> None:
    model = reference.ours()
    for start in range(0, reference.ids.shape[1], chunk):
        end = min(start + chunk, reference.ids.shape[1])
        with torch.no_grad():
            logits = model(reference.ids[:, start:end], torch.arange(start, end))
        assert logits.shape == (1, 1, reference.config.vocab_size)
        torch.testing.assert_close(logits[0, 0], reference.logits[end - 1], atol=5e-5, rtol=0)


@pytest.mark.parametrize("attention", ["plain", "fused"])
@pytest.mark.parametrize("chunk", [1, 4, 7])
def test_rings_that_went_round_equal_one_pass(
    reference: Reference, chunk: int, attention: str
) -> None:
    """The last layers attend to the ring of an earlier one, with the last row alone."""
    model = reference.ours(attention)
    keep_what_is_seen(model, chunk)
    caches = [module.cache for module in model.modules() if isinstance(module, Core)]
    assert {cache.slots for cache in caches} == {6 + chunk, CONTEXT}
    rows = len(reference.logits)
    # Chunks for the first half, then tokens and chunks by turns.
    ends = [*range(chunk, rows // 2, chunk)]
    while ends[-1] + chunk + 1 <= rows:
        ends += [ends[-1] + 1, ends[-1] + 1 + chunk]
    for start, end in itertools.pairwise([0, *ends]):
        with torch.no_grad():
            logits = model(reference.ids[:, start:end], torch.arange(start, end))
        torch.testing.assert_close(logits[0, 0], reference.logits[end - 1], atol=5e-5, rtol=0)


def dense(model: Gemma3n) -> None:
    model.text_decoder.layers[0].mlp.sparsify = torch.nn.Identity()


def wrong_cutoff(model: Gemma3n) -> None:
    model.text_decoder.layers[1].mlp.sparsify = GaussianTopK(96, 0.32)


def no_laurel(model: Gemma3n) -> None:
    model.text_decoder.layers[2].laurel.forward = lambda x: x


def no_prediction(model: Gemma3n) -> None:
    for linear in model.text_decoder.layers[1].altup.prediction_coefs:
        linear.weight.zero_()


def transposed_prediction(model: Gemma3n) -> None:
    coefficients = model.text_decoder.layers[0].altup.prediction_coefs
    turned = torch.stack([linear.weight.clone() for linear in coefficients]).transpose(0, 1)
    for linear, weight in zip(coefficients, turned, strict=True):
        linear.weight.copy_(weight)


def no_correction(model: Gemma3n) -> None:
    for linear in model.text_decoder.layers[0].altup.correction_coefs:
        linear.weight.zero_()


def unscaled_correction(model: Gemma3n) -> None:
    model.text_decoder.layers[1].correct_scale = False


def unscaled_streams(model: Gemma3n) -> None:
    model.text_decoder.expand.magnitude.scale = lambda x, target: x


def first_stream_only(model: Gemma3n) -> None:
    model.text_decoder.collapse.forward = lambda streams: streams[0]


def no_per_layer_update(model: Gemma3n) -> None:
    model.text_decoder.layers[3].per_layer.forward = lambda x, table: x * 0


def per_layer_of_the_next_layer(model: Gemma3n) -> None:
    size = model.config.per_layer_size
    table = model.per_layer_embedding.per_layer_table.weight
    table.copy_(table.roll(size, dims=1))


def unscaled_per_layer_table(model: Gemma3n) -> None:
    model.per_layer_embedding.scale = 1.0


def unscaled_embedding(model: Gemma3n) -> None:
    model.token_embedding.scale = 1.0


def no_window(model: Gemma3n) -> None:
    model.text_decoder.layers[0].self_attn.core.window = 0


def window_one_longer(model: Gemma3n) -> None:
    model.text_decoder.layers[0].self_attn.core.window = 7


def other_rope(model: Gemma3n) -> None:
    model.text_decoder.layers[2].self_attn.kind = 0


def no_value_norm(model: Gemma3n) -> None:
    model.text_decoder.layers[0].self_attn.v_norm = torch.nn.Identity()


def no_query_norm_weight(model: Gemma3n) -> None:
    model.text_decoder.layers[4].self_attn.q_norm.weight.fill_(1.0)


def scaled_scores(model: Gemma3n) -> None:
    model.text_decoder.layers[1].self_attn.core.scale = 16**-0.5


def no_softcap(model: Gemma3n) -> None:
    object.__setattr__(model.text_decoder.config, "logit_softcap", None)


@pytest.mark.parametrize(
    ("break_it", "where"),
    [
        (dense, "layer 0 mlp"),
        (wrong_cutoff, "layer 1 mlp"),
        (no_laurel, "layer 2 laurel"),
        (no_prediction, "layer 1 input_layernorm"),
        (transposed_prediction, "layer 0 input_layernorm"),
        (no_correction, "layer 0 streams"),
        (unscaled_correction, "layer 1 streams"),
        (unscaled_streams, "layer 0 input_layernorm"),
        (first_stream_only, "logits"),
        (no_per_layer_update, "layer 3 streams"),
        (per_layer_of_the_next_layer, "layer 0 streams"),
        (unscaled_per_layer_table, "layer 0 streams"),
        (unscaled_embedding, "layer 0"),
        (no_window, "layer 0 self_attn"),
        (window_one_longer, "layer 0 self_attn"),
        (other_rope, "layer 2 self_attn"),
        (no_value_norm, "layer 0 self_attn.v_norm"),
        (no_query_norm_weight, "layer 4 self_attn.q_norm"),
        (scaled_scores, "layer 1 self_attn"),
        (no_softcap, "logits"),
    ],
)
def test_a_broken_feature_is_found_where_it_is(
    reference: Reference, break_it: Callable[[Gemma3n], None], where: str
) -> None:
    model = reference.ours()
    config = model.text_decoder.config
    with torch.no_grad():
        break_it(model)
    try:
        found = compare(reference, model)
    finally:
        object.__setattr__(config, "logit_softcap", 5.0)
    assert found is not None
    assert found.startswith(f"{where}: " if where != "layer 0" else where), found


def test_sharing_with_another_layer_is_found(
    reference: Reference, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = Config.kv_source
    monkeypatch.setattr(Config, "kv_source", lambda self, i: 0 if i == 3 else right(self, i))
    found = compare(reference, reference.ours())
    assert found is not None
    assert found.startswith("layer 3 self_attn: ")


def test_the_exact_gelu_is_found(reference: Reference, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mlp, "gelu_tanh", torch.nn.functional.gelu)
    found = compare(reference, reference.ours())
    assert found is not None
    assert found.startswith("layer 0 mlp: ")


def test_a_shared_layer_reads_what_the_source_has_written(reference: Reference) -> None:
    model = reference.ours()
    cores = [m for m in model.modules() if isinstance(m, PlainCore)]
    assert len(cores) == reference.config.first_shared


def test_weights_of_another_config_are_refused(reference: Reference) -> None:
    state = dict(reference.model.state_dict())
    missing = "model.language_model.layers.0.laurel.linear_left.weight"
    with pytest.raises(SourceError, match=r"lacks.*laurel\.linear_left"):
        weights.load(reference.config, 8, {k: v for k, v in state.items() if k != missing})
    with pytest.raises(SourceError, match="shape"):
        weights.load(reference.config, 8, {**state, missing: torch.zeros(3, 64)})
    extra = "model.language_model.layers.0.novelty.weight"
    with pytest.raises(SourceError, match="novelty"):
        weights.load(reference.config, 8, {**state, extra: torch.zeros(1)})


def test_settings_that_are_not_computed_are_refused(reference: Reference) -> None:
    config = reference.model.config.text_config
    for name, value, error in (
        ("hidden_activation", "relu", UnsupportedError),
        ("num_kv_shared_layers", 5, SourceError),
        ("num_kv_shared_layers", 3, SourceError),
        ("activation_sparsity_pattern", [1.0] * 5, SourceError),
    ):
        changed = type(config).from_dict(config.to_dict())
        object.__setattr__(changed, name, value)
        with pytest.raises(error, match=name):
            Config.from_transformers(changed)
