"""Weights that a program holds twice, stored once.

A language model's embedding table is a constant tensor of the program, its head a weight of
XNNPACK's. ExecuTorch writes both, even where they are the same bytes: XNNPACK's go into segments of
their own, under names. Here such a segment comes to lie inside the segment of constants, and what
it took is left out. All that changes are offsets: of segments, in the flatbuffer, and the size of
all segments in the header (see ExecuTorch's ``exir/_serialize/_program.py``).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from flatbuffers import encode, number_types, packer
from flatbuffers.table import Table

LEAST_BYTES = 4096
"""Smaller weights are left alone: they are equal by chance, and save nothing."""

_MAGIC = b"eh00"
_HEADER_AT = 8
_BASE_AT, _SIZE_AT = _HEADER_AT + 16, _HEADER_AT + 24
_LONGEST_HEADER = 32
_SEGMENTS, _CONSTANT_SEGMENT, _NAMED_DATA = 12, 14, 18
"""Places of ``Program``'s fields in its table, as ``schema/program.fbs`` has them."""
_ALIGNMENT = 4096
"""What follows a segment that is left out moves by a multiple of this, and so stays aligned."""
_HEAD = 64
_CHUNK = 1 << 20


@dataclass(frozen=True)
class _Segment:
    """``field`` is where in the file its offset is, which counts from the first segment."""

    field: int
    offset: int
    size: int

    @property
    def end(self) -> int:
        return self.offset + self.size


def share_weights(pte: bytes) -> bytes:
    """Store weights once that are both a constant and a delegate's; give other programs back."""
    if pte[_HEADER_AT : _HEADER_AT + 4] != _MAGIC or _number(pte, _HEADER_AT + 4, 4) < (
        _LONGEST_HEADER
    ):
        return pte
    program = Table(pte, encode.Get(packer.uoffset, pte, 0))
    base = _number(pte, _BASE_AT)
    segments = [_segment(table) for table in _tables(program, _SEGMENTS)]
    places = _inside_constants(pte, program, base, segments)
    return _rewrite(pte, base, segments, places) if places else pte


def _inside_constants(
    pte: bytes, program: Table, base: int, segments: list[_Segment]
) -> dict[int, int]:
    """Segments of named data whose bytes are a constant's too: their number to that offset."""
    field = program.Offset(_CONSTANT_SEGMENT)
    if not field:
        return {}
    table = Table(pte, program.Indirect(program.Pos + field))
    home = _uint(table, 4, number_types.Uint32Flags)
    constants = segments[home]
    beginnings: dict[bytes, list[int]] = defaultdict(list)
    # The first offset stands for tensors that are not constant.
    for offset in _offsets(table, 6)[1:]:
        at = constants.offset + offset
        beginnings[pte[base + at : base + at + _HEAD]].append(at)
    places = {}
    named = {_uint(d, 6, number_types.Uint32Flags) for d in _tables(program, _NAMED_DATA)}
    for index in sorted(named):
        segment = segments[index]
        if segment.size < LEAST_BYTES or index == home:
            continue
        head = pte[base + segment.offset : base + segment.offset + _HEAD]
        for offset in beginnings.get(head, ()):
            fits = offset + segment.size <= constants.end
            if fits and _equal(pte, base + offset, base + segment.offset, segment.size):
                places[index] = offset
                break
    return places


def _rewrite(pte: bytes, base: int, segments: list[_Segment], places: dict[int, int]) -> bytes:
    whole = memoryview(pte)
    parts: list[bytes | memoryview] = []
    offsets = dict(places)
    end = 0
    kept = [i for i, segment in enumerate(segments) if segment.size and i not in places]
    for index in sorted(kept, key=lambda i: segments[i].offset):
        segment = segments[index]
        offset = segment.offset - (segment.offset - end) // _ALIGNMENT * _ALIGNMENT
        start = base + segment.offset
        parts += [bytes(offset - end), whole[start : start + segment.size]]
        offsets[index] = offset
        end = offset + segment.size
    description = bytearray(whole[:base])
    _put(description, _SIZE_AT, end)
    for index, offset in offsets.items():
        if offset != segments[index].offset:
            _put(description, segments[index].field, offset)
    return b"".join([description, *parts])


def _segment(table: Table) -> _Segment:
    field = table.Offset(4)
    size = _uint(table, 6, number_types.Uint64Flags)
    return _Segment(table.Pos + field, _uint(table, 4, number_types.Uint64Flags), size)


def _tables(table: Table, field: int) -> list[Table]:
    at = table.Offset(field)
    if not at:
        return []
    first = table.Vector(at)
    return [Table(table.Bytes, table.Indirect(first + 4 * i)) for i in range(table.VectorLen(at))]


def _offsets(table: Table, field: int) -> list[int]:
    at = table.Offset(field)
    if not at:
        return []
    first = table.Vector(at)
    return [_number(table.Bytes, first + 8 * i) for i in range(table.VectorLen(at))]


def _uint(table: Table, field: int, flags: type) -> int:
    at = table.Offset(field)
    return table.Get(flags, table.Pos + at) if at else 0


def _equal(pte: bytes, first: int, second: int, size: int) -> bool:
    """Compare piece by piece: a table may have gigabytes."""
    return all(
        pte[first + at : first + min(at + _CHUNK, size)]
        == pte[second + at : second + min(at + _CHUNK, size)]
        for at in range(0, size, _CHUNK)
    )


def _number(pte: bytes, at: int, length: int = 8) -> int:
    return int.from_bytes(pte[at : at + length], "little")


def _put(description: bytearray, at: int, value: int) -> None:
    description[at : at + 8] = value.to_bytes(8, "little")
