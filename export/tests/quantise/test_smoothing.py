"""Smoothing changes how a decoder rounds, not what it computes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from nearside_export.architectures.decoder import families, weights
from nearside_export.architectures.decoder.model import Decoder
from nearside_export.cli import main
from nearside_export.quantise import decoder, smoothing
from nearside_export.sources.language import open_source


def load(folder: Path, family: str) -> tuple[Decoder, object]:
    """A model whose norms blow a few channels up, as trained ones do."""
    path = folder / family
    if not path.exists():
        assert main(["tiny", family, "--out", str(path)]) == 0
    source = open_source(path)
    model = weights.load(families.read(source.config), source.tensors, 64)
    with torch.no_grad():
        for layer in model.layers:
            for norm in (layer.input_layernorm, layer.post_attention_layernorm):
                weight = norm.weight.clone()
                weight[::13] *= 60
                norm.weight = torch.nn.Parameter(weight, requires_grad=False)
    return model, source


def windows() -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    return torch.randint(0, 256, (4, 48), generator=generator)


def predictions(model: Decoder, window: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        stream = model.stream(model.embed(window[None]), torch.arange(len(window)))
        return model.logits(stream)


@pytest.mark.parametrize("family", ["llama", "qwen3", "gemma3-text"])
def test_a_smoothed_model_computes_the_same(tmp_path: Path, family: str) -> None:
    model, _ = load(tmp_path, family)
    window = windows()[3]
    want = predictions(model, window)
    held = [(p.detach(), p.detach().clone()) for p in model.parameters()]
    smoothing.smooth(model, windows()[:3])
    assert model.tied == isinstance(model.embedding, smoothing.Divided)
    if model.tied:
        assert model.embedding.embedding.weight is model.lm_head.weight
    got = predictions(model, window)
    assert (got - want).abs().max() < 2e-4 * want.abs().max()
    # Weights may lie in the file that they came from.
    assert all(torch.equal(weight, before) for weight, before in held)


@pytest.mark.parametrize("variant", ["int8", "8da4w"])
def test_what_is_smoothed_is_nearer(
    variant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = windows()[3]
    errors = []
    for smoothed in (True, False):
        model, source = load(tmp_path, "llama")
        want = predictions(model, window)
        if not smoothed:
            monkeypatch.setattr(smoothing, "smooth", lambda *_: None)
        texts = decoder.Calibration(windows()[:3], windows()[:3])
        decoder.apply(
            model,
            decoder.SCHEMES[variant],
            source.tensors,
            rounding="nearest",
            texts=lambda t=texts: t,
        )
        errors.append(float((predictions(model, window) - want).square().mean()))
    assert errors[0] < 0.8 * errors[1]
