"""Compare two Gemma 3n decoders quantity by quantity, in the order in which they are computed.

Modules carry transformers' names in both, so that what a hook sees in one is found in the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch

QUANTITIES = (
    "input_layernorm",
    "laurel",
    "self_attn.q_norm",
    "self_attn.k_norm",
    "self_attn.v_norm",
    "self_attn",
    "mlp",
    "",
)
"""Modules of a layer whose outputs are compared; "" is the layer itself: its streams."""


@dataclass
class Trace:
    """Outputs by (layer, quantity); the last call's where a module is called twice."""

    outputs: dict[tuple[int, str], torch.Tensor] = field(default_factory=dict)
    order: list[tuple[int, str]] = field(default_factory=list)

    def record(self, key: tuple[int, str], output: torch.Tensor | tuple) -> None:
        if isinstance(output, tuple):
            output = output[0]
        if isinstance(output, list):
            output = torch.stack(output, dim=1)
        self.outputs[key] = output
        if key not in self.order:
            self.order.append(key)


def attach(layers: torch.nn.ModuleList, trace: Trace) -> list[torch.utils.hooks.RemovableHandle]:
    """Record into ``trace`` whatever ``layers`` compute from now on."""
    handles = []
    for i, layer in enumerate(layers):
        modules = dict(layer.named_modules())
        for name in QUANTITIES:
            if name in modules:
                handles.append(modules[name].register_forward_hook(_recorder(trace, (i, name))))
    return handles


def _recorder(trace: Trace, key: tuple[int, str]) -> Callable:
    return lambda module, inputs, output: trace.record(key, output)


def of_transformers(trace: Trace) -> dict[tuple[int, str], torch.Tensor]:
    """Bring transformers' outputs to our shapes: no batch, rows first, streams second."""
    shaped = {}
    for key, output in trace.outputs.items():
        output = output.detach()
        shaped[key] = output[:, 0].transpose(0, 1) if key[1] == "" else output[0]
    return shaped


def first_difference(
    want: dict[tuple[int, str], torch.Tensor],
    got: dict[tuple[int, str], torch.Tensor],
    tolerance: float,
) -> str | None:
    """Say where ``got`` first leaves ``want``, relative to the largest value; None if nowhere.

    In the order of ``want``. Where ``got`` has fewer rows, they are the last ones.
    """
    for (layer, name), all_rows in want.items():
        found = got[layer, name]
        rows = found.numel() // all_rows[0].numel()
        expected = all_rows[-rows:]
        error = float((expected - found.reshape(expected.shape)).abs().max())
        if not error <= tolerance * max(1.0, float(expected.abs().max())):
            return f"layer {layer} {name or 'streams'}: {error:.2e}"
    return None


class WithLayerOutputs(torch.nn.Module):
    """Our decoder with all `QUANTITIES` as further outputs, for export."""

    def __init__(self, decoder: torch.nn.Module) -> None:
        super().__init__()
        self.decoder = decoder
        self.trace = Trace()
        attach(decoder.layers, self.trace)

    def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        self.trace.outputs.clear()
        logits = self.decoder(*inputs)
        return (logits, *(self.trace.outputs[k] for k in self.trace.order))
