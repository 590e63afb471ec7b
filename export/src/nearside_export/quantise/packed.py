"""Decoders in integers for our own operators, which take more kinds of numbers than XNNPACK's.

Scales of 4-bit weights are f16 numbers of either sign and may have an offset each, so that a GGUF
file's integers stay as they are. Activations are rounded in blocks of 32, not by whole rows, and
8-bit weights are not smoothed for them. Weights of 4 bits that are rounded anew are, as for XNNPACK
(`decoder`), all but the head's.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from nearside_export.architectures.decoder.model import Decoder
from nearside_export.architectures.packed_decoder import build
from nearside_export.architectures.packed_decoder.model import PackedDecoder
from nearside_export.errors import UnsupportedError
from nearside_export.manifest.variant import KvCache
from nearside_export.quantise import four_bits, smoothing, table_and_head
from nearside_export.quantise.decoder import SMOOTHED_ON, Scheme
from nearside_export.quantise.four_bits import Calibration
from nearside_export.quantise.rounded import Rounded
from nearside_export.quantise.rounding import nearest, source
from nearside_export.resume.work import NO_WORK, Work
from nearside_export.sources.model import Tensors


def apply(
    model: Decoder,
    scheme: Scheme,
    tensors: Tensors,
    *,
    cache: KvCache,
    group_size: int = 32,
    rounding: str = "auto",
    embedding_bits: int = 8,
    texts: Callable[[], Calibration],
    say: Callable[[str], None] = lambda _: None,
    work: Work = NO_WORK,
) -> tuple[str, PackedDecoder]:
    """Make a packed decoder of ``model``, which is of no use afterwards.

    Tell how weights were rounded, by one of `choices.ROUNDINGS` but ``auto``. The rest as for
    `decoder.apply`.
    """
    table_and_head.check(model, embedding_bits, weight_only=False)
    names = [
        f"layers.{name}"
        for name, module in model.layers.named_modules()
        if isinstance(module, torch.nn.Linear)
    ]
    used, weights = "nearest", None
    if scheme.bits == 8:
        weights = {n: nearest.rows(model.get_submodule(n).weight.detach()) for n in names}
    else:
        four_bits.check_groups(model, names, group_size)
        if rounding in ("auto", "source"):
            weights = four_bits.from_source(model, names, tensors, group_size, source.exact)
            used = "source"
        if weights is None:
            if rounding == "source":
                raise UnsupportedError(four_bits.not_held(group_size))
            smoothing.smooth(model, texts().fit[:SMOOTHED_ON], head=False)
            used, weights = four_bits.rounded(model, names, group_size, rounding, texts, say, work)
    table = _table(model.embedding.weight.detach(), embedding_bits)
    head = None if model.tied else nearest.rows(model.lm_head.weight.detach())
    return used, build.packed(model, weights, table, head, cache)


def _table(weight: torch.Tensor, bits: int) -> Rounded:
    if bits == 4:
        return nearest.groups(weight, table_and_head.TABLE_GROUP)
    return nearest.rows(weight)
