"""Weights of 4 and 8 bits as the kernels of ``nearside::linear`` and ``embedding`` read them.

u8 ``[tiles, tile_bytes]``: 16 rows are a tile, rows that there are not are zeros. A tile has its
blocks of 32 columns one after the other. Within a block columns go in 8 steps of 4; byte
``4 * r + c`` of step ``j`` is row ``r`` at column ``4 * j + c``.

- 8 bits: a byte is ``int + 128``, a block its 8 steps. After the blocks come 16 f32 scales, one a
  row: ``weight = scale * int``.
- 4 bits: a value is ``int + 8``, and step ``2 * p + 1`` is in the high halves of step ``2 * p``'s
  bytes. After a block's 256 bytes come its 16 f16 scales, then 16 f16 offsets unless the weight has
  none: ``weight = scale * int + offset``. `tile_bytes` tells the two apart.
"""

from __future__ import annotations

import torch

from nearside_export.quantise.rounded import LIMITS, Rounded

TILE = 16
"""Rows of a tile."""
BLOCK = 32
"""Columns of a block."""
_STEP = 4
_STEPS = BLOCK // _STEP
ZERO = {4: 8, 8: 128}
"""Bits to what stands for the integer 0."""


def tile_bytes(columns: int, bits: int, *, offsets: bool = False) -> int:
    """Bytes of a tile."""
    if bits == 8:
        return columns * TILE + 4 * TILE
    return columns // BLOCK * (TILE * BLOCK // 2 + 2 * TILE * (2 if offsets else 1))


def pack(weight: Rounded) -> torch.Tensor:
    """Pack ``weight``, of 8 bits with a scale a row or of 4 with one a block.

    Scales and offsets of 4 bits are rounded to f16. ``ValueError`` for columns that are no whole
    blocks, integers of more bits, and scales or offsets that are not finite (in f16).
    """
    rows, columns = weight.ints.shape
    low, high = LIMITS[weight.bits]
    if columns % BLOCK:
        raise ValueError(f"{columns} columns are no whole blocks of {BLOCK}")
    if weight.ints.numel() and (weight.ints.min() < low or weight.ints.max() > high):
        raise ValueError(f"integers of {weight.bits} bits must be {low} to {high}")
    blocks, missing = columns // BLOCK, -rows % TILE
    ints = torch.nn.functional.pad(weight.ints.to(torch.int16), (0, 0, 0, missing))
    values = (ints + ZERO[weight.bits]).to(torch.uint8)
    # Tile, row, block, step, column of the step, to tile, block, step, row, column.
    steps = values.view(-1, TILE, blocks, _STEPS, _STEP).permute(0, 2, 3, 1, 4)
    steps = steps.reshape(-1, blocks, _STEPS, TILE * _STEP)
    if weight.bits == 8:
        scales = _tiled(weight.scales, torch.float32, missing)
        return torch.cat((steps.flatten(1), scales.flatten(1)), dim=1)
    parts = [steps[:, :, 0::2] | steps[:, :, 1::2] << 4]
    parts.append(_tiled(weight.scales, torch.float16, missing))
    if weight.offsets is not None:
        parts.append(_tiled(weight.offsets, torch.float16, missing))
    return torch.cat([part.flatten(2) for part in parts], dim=2).flatten(1)


def unpack(weight: torch.Tensor, rows: int, columns: int, bits: int) -> Rounded:
    """Give back what was packed; ``weight`` has no `problem`."""
    tiles, blocks = weight.shape[0], columns // BLOCK
    if bits == 8:
        steps = weight[:, : columns * TILE].reshape(tiles, blocks, _STEPS, TILE, _STEP)
        scales = weight[:, columns * TILE :].contiguous().view(torch.float32)
        return Rounded(8, _ints(steps, rows, 8), scales.reshape(-1, 1)[:rows])
    whole = weight.view(tiles, blocks, -1)
    half = TILE * BLOCK // 2
    bytes_ = whole[:, :, :half].reshape(tiles, blocks, _STEPS // 2, 1, TILE * _STEP)
    steps = torch.cat((bytes_ & 15, bytes_ >> 4), dim=3)
    steps = steps.view(tiles, blocks, _STEPS, TILE, _STEP)
    numbers = whole[:, :, half:].contiguous().view(torch.float16).to(torch.float32)
    # Tile, block, scales or offsets, row, to scales or offsets, row, block.
    numbers = numbers.view(tiles, blocks, -1, TILE).permute(2, 0, 3, 1)
    scales, *offsets = numbers.reshape(-1, tiles * TILE, blocks)[:, :rows]
    return Rounded(4, _ints(steps, rows, 4), scales, offsets[0] if offsets else None)


def problem(weight: torch.Tensor, rows: int, columns: int, bits: int) -> str | None:
    """Say what keeps ``weight`` from being such a matrix; null where nothing does."""
    if bits not in ZERO:
        return f"weights of {bits} bits are not known; 4 and 8 are"
    if columns % BLOCK:
        return f"{columns} columns are no whole blocks of {BLOCK}"
    if weight.dtype is not torch.uint8 or weight.dim() != 2:
        return f"weight is {weight.dtype} with {weight.dim()} dimensions, not uint8 with 2"
    tiles = -(-rows // TILE)
    known = {tile_bytes(columns, bits), tile_bytes(columns, bits, offsets=bits == 4)}
    if weight.shape[0] != tiles or weight.shape[1] not in known:
        shapes = " or ".join(f"[{tiles}, {size}]" for size in sorted(known))
        return f"weight is {list(weight.shape)}, not {shapes}"
    return None


def _tiled(numbers: torch.Tensor, dtype: torch.dtype, missing: int) -> torch.Tensor:
    """Turn f32 ``[rows, blocks]`` into the bytes of each tile and block, u8."""
    padded = torch.nn.functional.pad(numbers.to(dtype), (0, 0, 0, missing))
    if not bool(torch.isfinite(padded).all()):
        raise ValueError(f"a scale or offset is not finite as {dtype}")
    ordered = padded.view(-1, TILE, padded.shape[1]).transpose(1, 2).contiguous()
    return ordered.view(torch.uint8)


def _ints(steps: torch.Tensor, rows: int, bits: int) -> torch.Tensor:
    """Turn steps u8 ``[tiles, blocks, 8, 16, 4]`` into i8 ``[rows, columns]``."""
    tiles, blocks = steps.shape[:2]
    values = steps.permute(0, 3, 1, 2, 4).reshape(tiles * TILE, blocks * BLOCK)[:rows]
    return (values.to(torch.int16) - ZERO[bits]).to(torch.int8)
