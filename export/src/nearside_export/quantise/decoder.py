"""Language models in integers: which weights of a decoder, of how many bits, rounded how.

Linear layers get integer weights and 8-bit activations (`integer_linear`), smoothed before anything
is rounded (`smoothing`), or 8-bit weights alone; `table_and_head` has the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from nearside_export.architectures.decoder.model import Decoder
from nearside_export.errors import UnsupportedError
from nearside_export.quantise import four_bits, smoothing, table_and_head
from nearside_export.quantise.four_bits import Calibration
from nearside_export.quantise.integer_linear import Rounded, install, install_weight_only
from nearside_export.quantise.rounding import nearest
from nearside_export.resume.work import NO_WORK, Work
from nearside_export.sources.model import Tensors

__all__ = ["SCHEMES", "Calibration", "Scheme", "apply"]

SMOOTHED_ON = 4
"""Windows of text whose largest activations smoothing goes by."""


@dataclass(frozen=True)
class Scheme:
    """``name`` in the manifest; ``bits`` of the layers' weights, 8 with a scale a row or 4.

    ``weight_only``: activations stay f32.
    """

    name: str
    bits: int
    weight_only: bool = False


SCHEMES = {
    "int8": Scheme("int8-dynamic", 8),
    "8da4w": Scheme("8da4w", 4),
    "int8w": Scheme("int8-weight-only", 8, weight_only=True),
}
"""``--variant`` to what it does."""


def apply(
    model: Decoder,
    scheme: Scheme,
    tensors: Tensors,
    *,
    group_size: int = 32,
    rounding: str = "auto",
    embedding_bits: int = 8,
    texts: Callable[[], Calibration],
    say: Callable[[str], None] = lambda _: None,
    work: Work = NO_WORK,
) -> str:
    """Quantise ``model`` in place; return how, one of `choices.ROUNDINGS` but ``auto``.

    ``texts`` is asked for only if something is calibrated. `UsageError` and `UnsupportedError` for
    what can't be had. What takes long to round is kept in ``work``.
    """
    table_and_head.check(model, embedding_bits, weight_only=scheme.weight_only)
    names = [
        f"layers.{name}"
        for name, module in model.layers.named_modules()
        if isinstance(module, torch.nn.Linear)
    ]
    used, weights = "nearest", None
    if scheme.bits == 4:
        four_bits.check_groups(model, names, group_size)
        used, weights = "source", _from_source(model, names, tensors, group_size, rounding)
    if weights is None and not scheme.weight_only:
        smoothing.smooth(model, texts().fit[:SMOOTHED_ON])
    if weights is None and scheme.bits == 4:
        used, weights = four_bits.rounded(model, names, group_size, rounding, texts, say, work)
    elif weights is None:
        weights = {n: nearest.rows(model.get_submodule(n).weight.detach()) for n in names}
    put = install_weight_only if scheme.weight_only else install
    for name in names:
        put(model, name, weights.pop(name))
    table_and_head.apply(model, embedding_bits, weight_only=scheme.weight_only)
    return used


def _from_source(
    model: Decoder, names: list[str], tensors: Tensors, group_size: int, rounding: str
) -> dict[str, Rounded] | None:
    if rounding not in ("auto", "source"):
        return None
    weights = four_bits.from_source(model, names, tensors, group_size)
    if weights is None and rounding == "source":
        raise UnsupportedError(four_bits.not_held(group_size))
    return weights
