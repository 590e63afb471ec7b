"""AltUp: a layer computes one of A streams and the others follow by small mixing matrices.

Streams are A tensors f32 ``[S, D]``, not one: XNNPACK can't take a stream out of a tensor with a
dynamic number of rows, and its subgraphs would end at every turn.
"""

from __future__ import annotations

import torch

from nearside_export.architectures.decoder.norm import RmsNorm
from nearside_export.architectures.gemma3n.config import Config
from nearside_export.architectures.gemma3n.mean import Mean

Streams = list[torch.Tensor]

_FLOOR = 1e-5
"""Below this mean square a stream is not scaled up further."""


class AltUp(torch.nn.Module):
    """Predict all streams before a layer, correct them by what the layer did to the active one."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.active, self.size = config.altup_active, config.hidden_size
        inputs = config.altup_inputs
        self.inputs = inputs
        self.correct_output_scale = torch.nn.Parameter(torch.zeros(self.size))
        # One for each stream that comes out; checkpoints have them stacked.
        self.correction_coefs = torch.nn.ModuleList(_linear(inputs, 1) for _ in range(inputs))
        self.prediction_coefs = torch.nn.ModuleList(_linear(inputs, inputs) for _ in range(inputs))
        self.modality_router = _linear(self.size, inputs)
        self.router_norm = RmsNorm(self.size, config.norm_eps)

    def predict(self, streams: Streams) -> Streams:
        """Mix all streams into each."""
        routed = self._route(streams[self.active])
        stacked = torch.cat([stream.view(-1, 1, self.size) for stream in streams], dim=1)
        return [
            stream + self._mix(coefficients(routed), stacked)
            for stream, coefficients in zip(streams, self.prediction_coefs, strict=True)
        ]

    def correct(self, predictions: Streams, activated: torch.Tensor) -> Streams:
        """Move all streams by what the layer made, f32 ``[S, D]``, of the active one."""
        routed = self._route(activated)
        innovation = activated - predictions[self.active]
        return [
            prediction + (coefficient(routed) + 1.0) * innovation
            for prediction, coefficient in zip(predictions, self.correction_coefs, strict=True)
        ]

    def _mix(self, coefficients: torch.Tensor, stacked: torch.Tensor) -> torch.Tensor:
        return torch.bmm(coefficients.view(-1, 1, self.inputs), stacked).view(-1, self.size)

    def _route(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.modality_router(self.router_norm(x) * (1.0 / self.size)))


class Expand(torch.nn.Module):
    """From the embedding to A streams of the same magnitude."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.projections = _projections(config)
        self.magnitude = _Magnitude(config.hidden_size)

    def forward(self, x: torch.Tensor) -> Streams:
        """f32 ``[S, D]`` to A of them."""
        target = self.magnitude(x)
        return [x, *(self.magnitude.scale(project(x), target) for project in self.projections)]


class Collapse(torch.nn.Module):
    """From A streams to their mean, all at the magnitude of the first."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.projections = _projections(config)
        self.magnitude = _Magnitude(config.hidden_size)

    def forward(self, streams: Streams) -> torch.Tensor:
        """Give f32 ``[S, D]``."""
        total = streams[0]
        target = self.magnitude(total)
        for stream, project in zip(streams[1:], self.projections, strict=True):
            total = total + self.magnitude.scale(project(stream), target)
        return total * (1.0 / len(streams))


class _Magnitude(torch.nn.Module):
    """Root mean square of f32 ``[S, D]``: ``[S, 1]``."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.mean = Mean(size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sqrt(self.mean(x * x))

    def scale(self, x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Bring ``x`` to the magnitude ``target``."""
        return x * target / torch.sqrt(self.mean(x * x).clamp(min=_FLOOR))


def _projections(config: Config) -> torch.nn.ModuleList:
    size = config.hidden_size
    return torch.nn.ModuleList(_linear(size, size) for _ in range(1, config.altup_inputs))


def _linear(inputs: int, outputs: int) -> torch.nn.Linear:
    return torch.nn.Linear(inputs, outputs, bias=False)
