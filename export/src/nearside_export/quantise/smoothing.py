"""SmoothQuant (Xiao et al., 2022): activations with outliers made easier to round, weights in turn.

Activations share 8 bits a row: one channel that is a hundred times larger than the others leaves
those a few steps. What a layer's input is divided by, channel by channel, its weight's columns are
multiplied by; the division goes into the norm, or the layer, that the input comes from. The model
computes the same.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from nearside_export.architectures.decoder.model import Decoder, Layer
from nearside_export.architectures.decoder.norm import RmsNorm

STRENGTH = 0.5
"""Share of the difference that moves into the weights, as in the paper."""
_LEAST = 1e-5


class Divided(torch.nn.Module):
    """An embedding whose values are divided by ``factors`` f32 ``[hidden]``."""

    def __init__(self, embedding: torch.nn.Module, factors: torch.Tensor) -> None:
        super().__init__()
        self.embedding = embedding
        self.register_buffer("shares", factors.reciprocal(), persistent=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Look ``ids`` up."""
        return self.embedding(ids) * self.shares


def smooth(model: Decoder, windows: torch.Tensor, *, head: bool = True) -> None:
    """Smooth ``model`` in place on text i64 ``[n, length]``, its head too unless told otherwise.

    An embedding table that is the head's weight is smoothed with it, and what is looked up is
    `Divided` again.
    """
    peaks = _peaks(model, windows)
    for index, layer in enumerate(model.layers):
        _smooth_layer(layer, {n: peaks[f"layers.{index}.{n}"] for n in _inputs(layer)})
    if not head:
        return
    factors = _factors(peaks["lm_head"], [model.lm_head.weight])
    _divide_norm(model.norm, factors)
    _multiply_columns(model.lm_head, factors)
    if model.tied:
        model.embedding.weight = model.lm_head.weight
        model.embedding = Divided(model.embedding, factors)


def _smooth_layer(layer: Layer, peaks: dict[str, torch.Tensor]) -> None:
    attention, mlp = layer.self_attn, layer.mlp
    projections = [attention.q_proj, attention.k_proj, attention.v_proj]
    factors = _factors(peaks["self_attn.q_proj"], [p.weight for p in projections])
    _divide_norm(layer.input_layernorm, factors)
    for projection in projections:
        _multiply_columns(projection, factors)

    # Heads that share a value share its factor: the largest need of any decides.
    shape = (attention.kv_heads, attention.heads // attention.kv_heads, attention.head_dim)
    need = peaks["self_attn.o_proj"].view(shape).amax(1)
    columns = attention.o_proj.weight.abs().amax(0).view(shape).amax(1)
    factors = _balance(need, columns)
    _divide_rows(attention.v_proj, factors.flatten())
    _multiply_columns(attention.o_proj, factors.unsqueeze(1).expand(shape).flatten())

    norm = layer.pre_feedforward_layernorm if layer.sandwich else layer.post_attention_layernorm
    factors = _factors(peaks["mlp.gate_proj"], [mlp.gate_proj.weight, mlp.up_proj.weight])
    _divide_norm(norm, factors)
    for projection in (mlp.gate_proj, mlp.up_proj):
        _multiply_columns(projection, factors)

    factors = _factors(peaks["mlp.down_proj"], [mlp.down_proj.weight])
    _divide_rows(mlp.up_proj, factors)
    _multiply_columns(mlp.down_proj, factors)


def _factors(peak: torch.Tensor, weights: list[torch.Tensor]) -> torch.Tensor:
    """Say what each input channel of layers that share it is divided by, f32 ``[columns]``."""
    return _balance(peak, torch.stack([w.abs().amax(0) for w in weights]).amax(0))


def _balance(peak: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    factors = peak.clamp(min=_LEAST) ** STRENGTH / columns.clamp(min=_LEAST) ** (1 - STRENGTH)
    # Only their relations matter: near one on average, nothing grows out of range.
    return factors / factors.log().mean().exp()


def _peaks(model: Decoder, windows: torch.Tensor) -> dict[str, torch.Tensor]:
    """Largest absolute value of each input channel of every linear layer."""
    peaks: dict[str, torch.Tensor] = {}

    def watch(name: str) -> Callable[..., None]:
        def see(_module: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
            peak = inputs[0].abs().flatten(0, -2).amax(0)
            peaks[name] = torch.maximum(peaks[name], peak) if name in peaks else peak

        return see

    handles = [
        module.register_forward_pre_hook(watch(name))
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear)
    ]
    try:
        with torch.no_grad():
            for window in windows:
                stream = model.stream(model.embed(window[None]), torch.arange(len(window)))
                model.logits(stream)
    finally:
        for handle in handles:
            handle.remove()
    model.reset()
    return peaks


def _inputs(layer: Layer) -> list[str]:
    return [n for n, module in layer.named_modules() if isinstance(module, torch.nn.Linear)]


# Weights may lie in the source's file: they are replaced, never written to.


def _divide_norm(norm: RmsNorm, factors: torch.Tensor) -> None:
    norm.weight = torch.nn.Parameter(norm.weight.detach() / factors, requires_grad=False)


def _multiply_columns(linear: torch.nn.Linear, factors: torch.Tensor) -> None:
    linear.weight = torch.nn.Parameter(linear.weight.detach() * factors, requires_grad=False)


def _divide_rows(linear: torch.nn.Linear, factors: torch.Tensor) -> None:
    weight = linear.weight.detach() / factors.unsqueeze(1)
    linear.weight = torch.nn.Parameter(weight, requires_grad=False)
    if linear.bias is not None:
        linear.bias = torch.nn.Parameter(linear.bias.detach() / factors, requires_grad=False)
