"""A decoder's embedding table and its head, which may be one, in integers."""

from __future__ import annotations

import torch

from nearside_export.architectures.decoder.model import Decoder
from nearside_export.errors import UsageError
from nearside_export.quantise import embedding_table
from nearside_export.quantise.embedding_table import QuantisedEmbedding
from nearside_export.quantise.integer_linear import Rounded, install, install_weight_only
from nearside_export.quantise.rounding import nearest
from nearside_export.quantise.smoothing import Divided

TABLE_GROUP = 32
"""Columns that share a scale in a table of 4 bits; one of 8 bits has a scale a row."""
_HEAD = "lm_head"


def apply(model: Decoder, bits: int, *, weight_only: bool = False) -> None:
    """Quantise both in place: the table to ``bits``, 8 or 4, the head to 8.

    A head that is the table has its bits too, and they are stored once. `UsageError` for 4 bits
    where they can't be had.
    """
    weight = model.lm_head.weight.detach()
    check(model, bits, weight_only=weight_only)
    if model.tied and bits == 4:
        head = nearest.groups(weight, TABLE_GROUP)
        embedding = QuantisedEmbedding(head.ints, head.scales, bits=4)
        install(model, _HEAD, Rounded(4, _pairs_swapped(head.ints), head.scales))
        model.lm_head = PairsSwapped(model.lm_head, weight.shape[1])
    else:
        head = nearest.rows(weight)
        if model.tied:
            table = head.ints, head.scales
        else:
            group = TABLE_GROUP if bits == 4 else None
            table = embedding_table.quantise(model.embedding.weight.detach(), bits, group)
        embedding = QuantisedEmbedding(*table, bits=bits)
        (install_weight_only if weight_only else install)(model, _HEAD, head)
    if isinstance(model.embedding, Divided):
        model.embedding.embedding = embedding
    else:
        model.embedding = embedding


def check(model: Decoder, bits: int, *, weight_only: bool) -> None:
    """`UsageError` for 4 bits where they can't be had."""
    if bits not in embedding_table.BITS:
        raise UsageError(f"an embedding table of {bits} bits can't be exported; choose 8 or 4")
    if bits == 8:
        return
    hidden = model.config.hidden_size
    if hidden % TABLE_GROUP:
        raise UsageError(
            f"the embedding table is {hidden} wide, which are no whole groups of {TABLE_GROUP}: "
            "choose --embedding-bits 8"
        )
    if model.tied and weight_only:
        raise UsageError(
            "the embedding table is the head too, and 4-bit weights have no kernels for f32 "
            "activations: choose --embedding-bits 8, or --variant int8 or 8da4w"
        )


class PairsSwapped(torch.nn.Module):
    """A head whose weight has columns 0 and 1, 2 and 3, … in each other's place.

    The embedding's operator has the even column in a byte's high half, XNNPACK's kernels in the low
    one: so the two have the same bytes, of which one copy is stored (`lower.shared_weights`). The
    activations are swapped by a product with a fixed matrix, which is exact.
    """

    def __init__(self, linear: torch.nn.Linear, columns: int) -> None:
        super().__init__()
        self.linear = linear
        self.register_buffer("swap", _pairs_swapped(torch.eye(columns)), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """f32 ``[..., columns]`` to ``[..., rows]``."""
        return self.linear(torch.nn.functional.linear(x, self.swap))


def _pairs_swapped(matrix: torch.Tensor) -> torch.Tensor:
    return matrix.unflatten(1, (-1, 2)).flip(2).flatten(1)
