"""Embedding tables in int8 or int4, read by ExecuTorch's quantised embedding kernels.

A value is ``int * scale``. int8 has one scale a row, or one for each group of columns; int4 has
groups. Nothing is unpacked but the rows that are looked up, so the table stays mapped from the
file.
"""

from __future__ import annotations

# Defines torch.ops.quantized_decomposed.embedding_*, and loads their out variants.
import executorch.exir.passes._quant_patterns_and_replacements
import executorch.kernels.quantized  # noqa: F401
import torch

from nearside_export.errors import UsageError

BITS = (8, 4)

_LIMITS = {8: (-128, 127), 4: (-8, 7)}
_SHRINK = tuple(1.0 - 0.02 * step for step in range(16))
"""Steps below the largest value's that are tried for int4: cutting it off may cost less."""
_ROWS = 4096
"""Rows quantised at once, which bounds the memory of a large table's trials."""


class QuantisedEmbedding(torch.nn.Module):
    """In the place of ``torch.nn.Embedding``: ids i64 ``[…]`` to f32 ``[…, width]``.

    ``ints`` is i8 ``[rows, width]``, or for 4 bits u8 ``[rows, width / 2]`` with the even column in
    the high half, each 8 more than its value; ``scales`` f32 ``[rows, width / group_size]``, or
    ``[rows]`` where a row has one.
    """

    def __init__(self, ints: torch.Tensor, scales: torch.Tensor, bits: int) -> None:
        super().__init__()
        self.bits = bits
        self.register_buffer("ints", pack(ints) if bits == 4 else ints)
        self.register_buffer("scales", scales.squeeze(1) if scales.shape[1] == 1 else scales)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Look ``ids`` up."""
        if not torch.compiler.is_exporting():
            return self._rows(ids)
        ops = torch.ops.quantized_decomposed
        look_up = ops.embedding_4bit if self.bits == 4 else ops.embedding_byte
        return look_up(self.ints, self.scales, None, *_LIMITS[self.bits], ids)

    def _rows(self, ids: torch.Tensor) -> torch.Tensor:
        """Give the same eagerly: the operators' own implementation unpacks the whole table."""
        rows = self.ints[ids]
        if self.bits == 4:
            halves = torch.stack((rows >> 4, rows & 15), dim=-1).flatten(-2)
            rows = halves.to(torch.int8) - 8
        scales = self.scales.reshape(len(self.scales), -1)[ids]
        grouped = rows.unflatten(-1, (scales.shape[-1], -1))
        return (grouped * scales.unsqueeze(-1)).flatten(-2)


def replace(model: torch.nn.Module, name: str, bits: int, group_size: int | None = None) -> None:
    """Put a quantised table in the place of the ``torch.nn.Embedding`` called ``name``.

    ``group_size`` columns share a scale; all of a row if it is left out.
    """
    table = model.get_submodule(name)
    ints, scales = quantise(table.weight.detach(), bits, group_size)
    parent, _, last = name.rpartition(".")
    setattr(model.get_submodule(parent), last, QuantisedEmbedding(ints, scales, bits))


def quantise(
    weight: torch.Tensor, bits: int, group_size: int | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Round f32 ``[rows, width]`` to i8 ``[rows, width]`` and scales f32 ``[rows, groups]``.

    int8 scales are those of the group's largest value; for int4 the scale is the one of several
    with the least squared error. `UsageError` for bits or groups that no kernel has.
    """
    rows, width = weight.shape
    group_size = width if group_size is None else group_size
    if bits not in BITS:
        raise UsageError(f"an embedding table of {bits} bits can't be exported; choose 8 or 4")
    if group_size < 1 or width % group_size or (bits == 4 and width % 2):
        raise UsageError(
            f"an embedding table {width} wide can't have groups of {group_size} with {bits} bits: "
            "the width must be a multiple of the group, and even for 4 bits"
        )
    grouped = weight.float().reshape(rows, -1, group_size)
    parts = [_quantise(part, bits) for part in grouped.split(_ROWS)]
    ints = torch.cat([i for i, _ in parts]).reshape(rows, width)
    return ints, torch.cat([s for _, s in parts])


def dequantise(ints: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """Give f32 ``[rows, width]`` back: what the kernels make of each row."""
    rows, groups = scales.shape
    return (ints.reshape(rows, groups, -1) * scales.unsqueeze(2)).reshape(rows, -1)


def pack(ints: torch.Tensor) -> torch.Tensor:
    """Put two int4 values of i8 ``[rows, width]`` into each byte of u8 ``[rows, width / 2]``."""
    shifted = (ints + 8).to(torch.uint8)
    return shifted[:, 0::2] << 4 | shifted[:, 1::2]


def _quantise(grouped: torch.Tensor, bits: int) -> tuple[torch.Tensor, torch.Tensor]:
    """f32 ``[rows, groups, size]`` to i8 of that shape and f32 ``[rows, groups]``."""
    if bits == 8:
        scales = _not_zero(grouped.abs().amax(dim=2) / 127)
        return _round(grouped, scales, bits), scales
    # There is one more value below zero than above: let the largest one be on that side.
    at = grouped.abs().argmax(dim=2, keepdim=True)
    full = _not_zero(grouped.gather(2, at).squeeze(2) / -8)
    best, least = full, torch.full_like(full, torch.inf)
    for shrink in _SHRINK:
        scales = full * shrink
        error = (_round(grouped, scales, bits) * scales.unsqueeze(2) - grouped).square().sum(dim=2)
        best = torch.where(error < least, scales, best)
        least = torch.minimum(error, least)
    return _round(grouped, best, bits), best


def _round(grouped: torch.Tensor, scales: torch.Tensor, bits: int) -> torch.Tensor:
    low, high = _LIMITS[bits]
    return torch.round(grouped / scales.unsqueeze(2)).clamp(low, high).to(torch.int8)


def _not_zero(scales: torch.Tensor) -> torch.Tensor:
    """Give groups of zeros, which have no scale of their own, the scale 1."""
    return torch.where(scales == 0, torch.ones_like(scales), scales)
