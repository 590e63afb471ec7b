"""Linear layers of a decoder in 4 bits: as the source has them, or rounded in the best way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from nearside_export.architectures.decoder.model import Decoder
from nearside_export.errors import UsageError
from nearside_export.quantise import calibration
from nearside_export.quantise.choices import GROUP_SIZES
from nearside_export.quantise.integer_linear import Rounded
from nearside_export.quantise.rounding import gptq, hqq, nearest, source
from nearside_export.quantise.rounding.grid import asymmetric
from nearside_export.resume.work import Work
from nearside_export.sources.model import QuantisedBlocks, Tensors

GOOD_DIVERGENCE = 0.05
"""KL from fp32, nats a token, that is near enough to do without offsets: perplexity is about 1.05
times fp32's then, half of what the gate allows."""
GPTQ_GAIN = 4
"""GPTQ has not been seen to bring the divergence of plain rounding down to less than a quarter."""

Ways = dict[str, Callable[[], dict[str, Rounded]]]


@dataclass(frozen=True)
class Calibration:
    """Windows i64 ``[n, length]`` of text: ``fit`` is what GPTQ sees, ``choose`` is not."""

    fit: torch.Tensor
    choose: torch.Tensor


def from_source(
    model: Decoder,
    names: list[str],
    tensors: Tensors,
    group_size: int,
    taken: Callable[[QuantisedBlocks, int], Rounded | None] = source.groups,
) -> dict[str, Rounded] | None:
    """Take the layers ``names`` over as ``tensors`` has them; null where it has others.

    ``taken`` makes them what kernels hold: one of `rounding.source`'s.
    """
    known = set(tensors.names())
    weights = {}
    for name in names:
        held = next((k for k in (f"model.{name}.weight", f"{name}.weight") if k in known), None)
        blocks = tensors.blocks(held) if held is not None else None
        weight = taken(blocks, group_size) if blocks is not None else None
        if weight is None or weight.ints.shape != model.get_submodule(name).weight.shape:
            return None
        weights[name] = weight
    return weights


def not_held(group_size: int) -> str:
    """Say that `from_source` gave nothing."""
    return (
        f"the source does not hold all layers as 4-bit integers in groups of {group_size} "
        "(GGUF's Q4_0 or Q4_1): choose another --rounding"
    )


def rounded(
    model: Decoder,
    names: list[str],
    group_size: int,
    rounding: str,
    texts: Callable[[], Calibration],
    say: Callable[[str], None],
    work: Work,
) -> tuple[str, dict[str, Rounded]]:
    """Round the layers ``names``; say which of `ROUNDINGS` it was, never ``auto``.

    The model is left as it was. What takes long is kept in ``work``.
    """
    kept = work.weights("rounded")
    if kept is not None:
        return str(kept[0]["rounding"]), kept[1]
    ways = _ways(model, names, group_size, texts, work)
    if rounding == "auto":
        used, weights = _best(calibration.Chooser(model, texts().choose), ways, say)
    else:
        used, weights = rounding, ways[rounding]()
    work.keep_weights("rounded", weights, {"rounding": used})
    work.forget("gptq")
    return used, weights


def _ways(
    model: Decoder,
    names: list[str],
    group_size: int,
    texts: Callable[[], Calibration],
    work: Work,
) -> Ways:
    def each(rounded: Callable[[torch.Tensor], Rounded]) -> dict[str, Rounded]:
        return {name: rounded(_weight(model, name)) for name in names}

    def on_text(name: str, rounded: calibration.Round) -> dict[str, Rounded]:
        return calibration.layer_by_layer(model, texts().fit, rounded, work, name)

    return {
        "nearest": lambda: each(lambda w: nearest.groups(w, group_size)),
        "hqq": lambda: each(lambda w: hqq.groups(w, group_size)),
        "gptq": lambda: on_text("gptq", lambda w, m: gptq.groups(w, m, group_size)),
        "nearest-asymmetric": lambda: each(lambda w: nearest.groups(w, group_size, asymmetric)),
        "hqq-asymmetric": lambda: each(lambda w: hqq.asymmetric_groups(w, group_size)),
        "gptq-asymmetric": lambda: on_text(
            "gptq-asymmetric", lambda w, m: gptq.groups(w, m, group_size, asymmetric)
        ),
    }


def _best(
    chooser: calibration.Chooser, ways: Ways, say: Callable[[str], None]
) -> tuple[str, dict[str, Rounded]]:
    """Give what predicts best of the ways without offsets; where none is good, of all.

    Ways that can't come out best are not tried: GPTQ takes minutes.
    """
    best: tuple[float, str, dict[str, Rounded]] | None = None

    def try_all(names: tuple[str, ...]) -> float:
        nonlocal best
        for name in names:
            weights = ways[name]()
            divergence = chooser.divergence(weights)
            say(f"rounding {name}: KL from fp32 {divergence:.4f}")
            if best is None or divergence < best[0]:
                best = (divergence, name, weights)
        assert best is not None
        return best[0]

    if try_all(("nearest", "hqq")) <= GPTQ_GAIN * GOOD_DIVERGENCE:
        try_all(("gptq",))
    assert best is not None
    if best[0] > GOOD_DIVERGENCE:
        try_all(("nearest-asymmetric", "gptq-asymmetric"))
    return best[1], best[2]


def _weight(model: torch.nn.Module, name: str) -> torch.Tensor:
    weight = model.get_submodule(name).weight
    assert isinstance(weight, torch.Tensor)
    return weight.detach()


def check_groups(model: Decoder, names: list[str], group_size: int) -> None:
    """`UsageError` for a group size that no kernel has or that does not divide the layers."""
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
