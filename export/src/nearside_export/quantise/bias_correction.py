"""Bias correction: give each quantised layer's channels the mean that fp32 has.

Rounding weights and activations shifts a channel's mean, most of all in depthwise convolutions
with few weights, and the shifts add up through the network. Walking the layers in order, the
difference of means over calibration pictures goes into the bias, so that later layers are
corrected behind layers that already are (Nagel et al. 2019, arXiv:1906.04721, section 4.2, with
measured instead of derived means). A bias costs nothing at run time.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

import torch

_LAYERS = (torch.ops.aten.conv2d.default, torch.ops.aten.linear.default)


def correct(
    quantised: torch.fx.GraphModule, reference: torch.fx.GraphModule, pictures: torch.Tensor
) -> None:
    """Change the biases of ``quantised`` in place.

    ``reference`` is the same network in fp32 with batch norm folded; ``pictures`` is an f32 batch
    ``[n, 3, height, width]`` that both accept. Layers are matched by their order.
    """
    with torch.no_grad():
        recorder = _Recorder(reference)
        recorder.run(pictures)
        _Corrector(quantised, recorder.means).run(pictures)


class _Recorder(torch.fx.Interpreter):
    """Records each layer's mean output per channel."""

    def __init__(self, module: torch.fx.GraphModule) -> None:
        super().__init__(module)
        self.means: list[torch.Tensor] = []

    def run_node(self, n: torch.fx.Node) -> object:
        value = super().run_node(n)
        if n.target in _LAYERS:
            self.means.append(_channel_means(value))
        return value


class _Corrector(torch.fx.Interpreter):
    """Moves each layer's bias by what its mean output lacks, before the next layer runs."""

    def __init__(self, module: torch.fx.GraphModule, means: list[torch.Tensor]) -> None:
        super().__init__(module)
        self._means: Iterator[torch.Tensor] = iter(means)

    def run_node(self, n: torch.fx.Node) -> object:
        value = super().run_node(n)
        if n.target in _LAYERS:
            shift = next(self._means) - _channel_means(value)
            _attribute(self.module, n.args[2].target).data.add_(shift)
            value = value + (shift[:, None, None] if value.dim() == 4 else shift)
        return value


def _channel_means(value: torch.Tensor) -> torch.Tensor:
    """``[n, channels, …]`` to ``[channels]``."""
    return value.mean(dim=[d for d in range(value.dim()) if d != 1])


def _attribute(module: torch.nn.Module, path: str) -> torch.Tensor:
    return reduce(getattr, path.split("."), module)
