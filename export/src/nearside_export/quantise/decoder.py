"""Language models in integers: which weights of a decoder, of how many bits, rounded how.

Linear layers get integer weights and 8-bit activations (`integer_linear`), with 8-bit weights
smoothed first (`smoothing`); the head and the embedding table have 8 bits and a scale a row, so
that a table that both share is one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from nearside_export.architectures.decoder.model import Decoder
from nearside_export.errors import UnsupportedError, UsageError
from nearside_export.quantise import calibration, smoothing
from nearside_export.quantise.embedding_table import QuantisedEmbedding
from nearside_export.quantise.integer_linear import Rounded, install
from nearside_export.quantise.rounding import gptq, hqq, nearest, source
from nearside_export.resume.work import NO_WORK, Work
from nearside_export.sources.model import Tensors

GROUP_SIZES = (32, 64, 128)
"""Columns a scale that XNNPACK's 4-bit kernels take and that are of use."""
ROUNDINGS = ("auto", "source", "nearest", "hqq", "gptq")
"""``auto``: the source's own integers where it has them, else what predicts best."""
SMOOTHED_ON = 4
"""Windows of text whose largest activations smoothing goes by."""
_HEAD = "lm_head"
_TABLE = "embedding"


@dataclass(frozen=True)
class Scheme:
    """``name`` in the manifest; ``bits`` of the layers' weights, 8 with a scale a row or 4."""

    name: str
    bits: int


SCHEMES = {"int8": Scheme("int8-dynamic", 8), "8da4w": Scheme("8da4w", 4)}
"""``--variant`` to what it does."""


@dataclass(frozen=True)
class Calibration:
    """Windows i64 ``[n, length]`` of text: ``fit`` is what GPTQ sees, ``choose`` is not."""

    fit: torch.Tensor
    choose: torch.Tensor


def apply(
    model: Decoder,
    scheme: Scheme,
    tensors: Tensors,
    *,
    group_size: int = 32,
    rounding: str = "auto",
    texts: Callable[[], Calibration],
    say: Callable[[str], None] = lambda _: None,
    work: Work = NO_WORK,
) -> str:
    """Quantise ``model`` in place; return the way of rounding, one of `ROUNDINGS` but ``auto``.

    ``texts`` is asked for only if something is calibrated. `UsageError` for a group size that does
    not divide the layers, `UnsupportedError` for ``source`` where the source has no such integers.
    What takes long to round is kept in ``work``.
    """
    names = [
        f"layers.{name}"
        for name, module in model.layers.named_modules()
        if isinstance(module, torch.nn.Linear)
    ]
    factors: torch.Tensor | None = None
    if scheme.bits == 8:
        factors = smoothing.smooth(model, texts().fit[:SMOOTHED_ON])
        used, weights = "nearest", {n: nearest.rows(_weight(model, n)) for n in names}
    else:
        _check_groups(model, names, group_size)
        used, weights = _kept(
            work, lambda: _four_bits(model, names, tensors, group_size, rounding, texts, say, work)
        )
    for name in names:
        install(model, name, weights.pop(name))
    _table_and_head(model, factors)
    return used


def _four_bits(
    model: Decoder,
    names: list[str],
    tensors: Tensors,
    group_size: int,
    rounding: str,
    texts: Callable[[], Calibration],
    say: Callable[[str], None],
    work: Work,
) -> tuple[str, dict[str, Rounded]]:
    if rounding in ("auto", "source"):
        weights = _from_source(model, names, tensors, group_size)
        if weights is not None:
            return "source", weights
        if rounding == "source":
            raise UnsupportedError(
                f"the source does not hold all layers as 4-bit integers in groups of {group_size} "
                "(GGUF's Q4_0 or Q4_1): choose another --rounding"
            )
    ways: dict[str, Callable[[], dict[str, Rounded]]] = {
        "nearest": lambda: {n: nearest.groups(_weight(model, n), group_size) for n in names},
        "hqq": lambda: {n: hqq.groups(_weight(model, n), group_size) for n in names},
        "gptq": lambda: calibration.layer_by_layer(
            model, texts().fit, lambda w, moments: gptq.groups(w, moments, group_size), work
        ),
    }
    if rounding != "auto":
        return rounding, ways[rounding]()
    chooser = calibration.Chooser(model, texts().choose)
    best: tuple[float, str, dict[str, Rounded]] | None = None
    for way, make in ways.items():
        weights = make()
        divergence = chooser.divergence(weights)
        say(f"rounding {way}: KL from fp32 {divergence:.4f}")
        if best is None or divergence < best[0]:
            best = (divergence, way, weights)
    assert best is not None
    return best[1], best[2]


def _kept(
    work: Work, make: Callable[[], tuple[str, dict[str, Rounded]]]
) -> tuple[str, dict[str, Rounded]]:
    kept = work.weights("rounded")
    if kept is not None:
        return str(kept[0]["rounding"]), kept[1]
    used, weights = make()
    work.keep_weights("rounded", weights, {"rounding": used})
    work.forget("gptq-")
    return used, weights


def _from_source(
    model: Decoder, names: list[str], tensors: Tensors, group_size: int
) -> dict[str, Rounded] | None:
    known = set(tensors.names())
    weights = {}
    for name in names:
        held = next((k for k in (f"model.{name}.weight", f"{name}.weight") if k in known), None)
        blocks = tensors.blocks(held) if held is not None else None
        weight = source.groups(blocks, group_size) if blocks is not None else None
        if weight is None or weight.ints.shape != model.get_submodule(name).weight.shape:
            return None
        weights[name] = weight
    return weights


def _table_and_head(model: Decoder, factors: torch.Tensor | None) -> None:
    """Quantise both; what is looked up is divided by ``factors`` f32 ``[hidden]``."""
    head = nearest.rows(_weight(model, _HEAD))
    table = head if model.tied else nearest.rows(_weight(model, _TABLE))
    install(model, _HEAD, head)
    embedding = QuantisedEmbedding(table.ints, table.scales, bits=8)
    smoothed = factors is not None and bool((factors != 1).any())
    setattr(model, _TABLE, Divided(embedding, factors) if smoothed else embedding)


class Divided(torch.nn.Module):
    """An embedding whose values are divided by ``factors`` f32 ``[hidden]``."""

    def __init__(self, embedding: torch.nn.Module, factors: torch.Tensor) -> None:
        super().__init__()
        self.embedding = embedding
        self.register_buffer("shares", factors.reciprocal(), persistent=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Look ``ids`` up."""
        return self.embedding(ids) * self.shares


def _weight(model: torch.nn.Module, name: str) -> torch.Tensor:
    weight = model.get_submodule(name).weight
    assert isinstance(weight, torch.Tensor)
    return weight.detach()


def _check_groups(model: Decoder, names: list[str], group_size: int) -> None:
    if group_size not in GROUP_SIZES:
        known = ", ".join(map(str, GROUP_SIZES))
        raise UsageError(f"groups of {group_size} can't be exported; choose one of: {known}")
    for name in names:
        columns = _weight(model, name).shape[1]
        if columns % group_size:
            raise UsageError(
                f"{name} has {columns} columns, which are no whole groups of {group_size}: choose "
                "a smaller --group-size, or --variant int8"
            )
