"""A decoder on calibration text: what its layers see, and how far rounding leads it astray."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from nearside_export.architectures.decoder.model import Decoder
from nearside_export.architectures.decoder.step import Step
from nearside_export.progress import track
from nearside_export.quantise.integer_linear import (
    Rounded,
    install,
    quantised_activations,
    uninstall,
)
from nearside_export.resume.work import NO_WORK, Work

Round = Callable[[torch.Tensor, torch.Tensor], Rounded]
"""A weight f32 ``[rows, columns]`` and its input's moments ``[columns, columns]`` to integers."""


def layer_by_layer(
    model: Decoder,
    windows: torch.Tensor,
    rounded: Round,
    work: Work = NO_WORK,
    kept_as: str = "gptq",
) -> dict[str, Rounded]:
    """Round every linear layer, each on what the rounded layers before its own make of the text.

    ``windows`` i64 ``[n, length]``. The model is left as it was. Each layer is kept in ``work``,
    by names that begin with ``kept_as``.
    """
    weights: dict[str, Rounded] = {}
    originals: dict[str, torch.nn.Parameter] = {}
    with torch.no_grad():
        step = _step(model, windows.shape[1])
        streams = [model.embed(window[None]) for window in windows]
        for index, layer in track(enumerate(model.layers), len(model.layers), "GPTQ, layers"):
            kept = work.weights(f"{kept_as}-{index}")
            if kept is None:
                made = {
                    f"layers.{index}.{name}": weight
                    for names, moment in _moments(layer, streams, step)
                    for name, weight in _together(layer, names, moment, rounded)
                }
                work.keep_weights(f"{kept_as}-{index}", made)
            else:
                made = kept[1]
            for path, weight in made.items():
                originals[path] = model.get_submodule(path).weight
                install(model, path, weight)
            weights |= made
            streams = [layer(stream, step) for stream in streams]
    _restore(model, originals)
    model.reset()
    return weights


class Chooser:
    """Tells how far a model with rounded weights is from the one that it was made from."""

    def __init__(self, model: Decoder, windows: torch.Tensor) -> None:
        self._model = model
        self._windows = windows
        self._want = list(self._predictions())

    def divergence(self, weights: dict[str, Rounded]) -> float:
        """Mean KL(fp32 || rounded) of all next tokens, nats. The model is left as it was."""
        originals = {name: self._model.get_submodule(name).weight for name in weights}
        for name, weight in weights.items():
            install(self._model, name, weight)
        total = [
            (want.exp() * (want - got)).sum(-1).mean().item()
            for want, got in zip(self._want, self._predictions(), strict=True)
        ]
        _restore(self._model, originals)
        return sum(total) / len(total)

    def _predictions(self) -> Iterator[torch.Tensor]:
        """Log-probabilities f32 ``[length, vocab]`` of each window."""
        model = self._model
        for window in self._windows:
            with torch.no_grad():
                positions = torch.arange(len(window))
                stream = model.stream(model.embed(window[None]), positions)
                yield model.logits(stream)[0].log_softmax(-1)
        model.reset()


def _linear(layer: torch.nn.Module, name: str) -> torch.Tensor:
    weight = layer.get_submodule(name).weight
    assert isinstance(weight, torch.Tensor)
    return weight.detach()


def _step(model: Decoder, length: int) -> Step:
    frequencies = [getattr(model, f"frequencies_{kind}") for kind in range(model.ropes)]
    return Step(torch.arange(length), None, model.context_length, frequencies, model.turn)


def _moments(
    layer: torch.nn.Module, streams: list[torch.Tensor], step: Step
) -> list[tuple[list[str], torch.Tensor]]:
    """Sum of ``x x^T`` over the quantised inputs of the linear layers that share them.

    In the order of calls: q, k and v see one tensor, as gate and up do.
    """
    shared: list[list[str]] = []
    sums: list[torch.Tensor] = []
    calls = 0
    last: torch.Tensor | None = None

    def watch(name: str) -> Callable[..., None]:
        def see(_module: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
            nonlocal calls, last
            if last is inputs[0]:
                if name not in shared[calls - 1]:
                    shared[calls - 1].append(name)
                return
            last = inputs[0]
            rows = quantised_activations(last).flatten(0, -2)
            if calls == len(sums):
                shared.append([name])
                sums.append(torch.zeros(rows.shape[1], rows.shape[1]))
            sums[calls].addmm_(rows.t(), rows)
            calls += 1

        return see

    with _hooked(layer, watch):
        for stream in streams:
            calls = 0
            layer(stream, step)
    return list(zip(shared, sums, strict=True))


def _together(
    layer: torch.nn.Module, names: list[str], moment: torch.Tensor, rounded: Round
) -> Iterator[tuple[str, Rounded]]:
    """Round layers with one input as one: their rows have nothing to do with each other."""
    weights = [_linear(layer, name) for name in names]
    whole = rounded(torch.cat(weights), moment)
    rows = [len(weight) for weight in weights]
    offsets = [None] * len(rows) if whole.offsets is None else whole.offsets.split(rows)
    parts = zip(names, whole.ints.split(rows), whole.scales.split(rows), offsets, strict=True)
    for name, *part in parts:
        # A view would be written with the whole storage that it lies in, from its beginning.
        yield name, Rounded(whole.bits, *(t if t is None else t.clone() for t in part))


@contextmanager
def _hooked(layer: torch.nn.Module, watch: Callable[[str], Callable[..., None]]) -> Iterator[None]:
    handles = [
        module.register_forward_pre_hook(watch(name))
        for name, module in layer.named_modules()
        if isinstance(module, torch.nn.Linear)
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _restore(model: Decoder, originals: dict[str, torch.nn.Parameter]) -> None:
    for name, weight in originals.items():
        uninstall(model, name, weight)
