"""Packed weights: where each value lies, and that unpacking gives back what was packed."""

from __future__ import annotations

import pytest
import torch

from nearside_export.ops import packed
from nearside_export.quantise.rounded import LIMITS, Rounded


def weight(bits: int, rows: int, columns: int, *, offsets: bool = False) -> Rounded:
    generator = torch.Generator().manual_seed(rows + columns)
    low, high = LIMITS[bits]
    ints = torch.randint(low, high + 1, (rows, columns), generator=generator, dtype=torch.int8)
    groups = 1 if bits == 8 else columns // packed.BLOCK
    numbers = torch.randn(2, rows, groups, generator=generator).half().float()
    return Rounded(bits, ints, numbers[0], numbers[1] if offsets else None)


KINDS = [(8, False), (4, False), (4, True)]


@pytest.mark.parametrize(("bits", "offsets"), KINDS)
@pytest.mark.parametrize(("rows", "columns"), [(1, 32), (16, 96), (37, 64), (48, 32)])
def test_unpacking_gives_back_what_was_packed(
    bits: int, offsets: bool, rows: int, columns: int
) -> None:
    given = weight(bits, rows, columns, offsets=offsets)
    bytes_ = packed.pack(given)
    assert bytes_.dtype is torch.uint8
    tiles = -(-rows // 16)
    assert list(bytes_.shape) == [tiles, packed.tile_bytes(columns, bits, offsets=offsets)]
    assert packed.problem(bytes_, rows, columns, bits) is None
    found = packed.unpack(bytes_, rows, columns, bits)
    assert found.ints.equal(given.ints)
    assert found.scales.equal(given.scales)
    assert (found.offsets is None) is not offsets
    assert found.offsets is None or found.offsets.equal(given.offsets)


def test_a_value_of_8_bits_lies_in_its_tile_block_and_step() -> None:
    given = weight(8, 40, 96)
    bytes_ = packed.pack(given)
    for row, column in ((0, 0), (15, 31), (16, 32), (39, 95), (21, 70)):
        block, within = divmod(column, 32)
        at = 512 * block + 64 * (within // 4) + 4 * (row % 16) + within % 4
        assert int(bytes_[row // 16, at]) == int(given.ints[row, column]) + 128
    tail = bytes_[1, 96 * 16 :].clone().view(torch.float32)
    assert tail.tolist() == given.scales[16:32, 0].tolist()


@pytest.mark.parametrize("offsets", [False, True])
def test_a_value_of_4_bits_shares_its_byte_with_the_next_step(offsets: bool) -> None:
    given = weight(4, 40, 96, offsets=offsets)
    bytes_ = packed.pack(given)
    size = 320 if offsets else 288
    for row, column in ((0, 0), (15, 31), (16, 32), (39, 95), (21, 70)):
        block, within = divmod(column, 32)
        pair, half = divmod(within // 4, 2)
        byte = int(bytes_[row // 16, size * block + 64 * pair + 4 * (row % 16) + within % 4])
        assert (byte >> 4 if half else byte & 15) == int(given.ints[row, column]) + 8
    numbers = bytes_[1, size + 256 : 2 * size].clone().view(torch.float16).float()
    assert numbers[:16].tolist() == given.scales[16:32, 1].tolist()
    assert not offsets or numbers[16:].tolist() == given.offsets[16:32, 1].tolist()


def test_rows_that_there_are_not_are_zeros() -> None:
    found = packed.unpack(packed.pack(weight(4, 17, 32, offsets=True)), 32, 32, 4)
    assert not found.dequantise()[17:].any()


def test_what_can_not_be_packed_is_refused() -> None:
    with pytest.raises(ValueError, match="33 columns are no whole blocks of 32"):
        packed.pack(Rounded(8, torch.zeros(4, 33, dtype=torch.int8), torch.ones(4, 1)))
    with pytest.raises(ValueError, match="integers of 8 bits must be -127 to 127"):
        packed.pack(Rounded(8, torch.full((4, 32), -128, dtype=torch.int8), torch.ones(4, 1)))
    with pytest.raises(ValueError, match=r"not finite as torch\.float16"):
        packed.pack(Rounded(4, torch.zeros(4, 32, dtype=torch.int8), torch.full((4, 1), 1e5)))


def test_a_weight_of_another_shape_is_told() -> None:
    bytes_ = packed.pack(weight(4, 32, 64))
    assert "[3, 576] or [3, 640]" in str(packed.problem(bytes_, 33, 64, 4))
    assert "[2, 1088]" in str(packed.problem(bytes_, 32, 64, 8))
    assert "3 bits" in str(packed.problem(bytes_, 32, 64, 3))
