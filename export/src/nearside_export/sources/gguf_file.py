"""The GGUF container, read without trusting it: metadata, and where each tensor lies.

Format: ggml's docs/gguf.md, versions 2 and 3, little endian. Every length is checked against what
is left of the file before anything is allocated, so that a damaged or hostile file is an error.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nearside_export.errors import SourceError, UnsupportedError

MAGIC = b"GGUF"
VERSIONS = (2, 3)
MAX_ENTRIES = 1 << 20
"""Of metadata or tensors; real files have hundreds."""
MAX_DIMENSIONS = 4
MAX_ARRAY = 1 << 24
"""Entries of one metadata array; the largest vocabularies have under a million."""

_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 10: "Q", 11: "q", 12: "d"}
_BOOL, _STRING, _ARRAY = 7, 8, 9


@dataclass(frozen=True)
class TensorInfo:
    """``shape`` in PyTorch's order, ``kind`` is ggml's type; ``bytes`` from ``start`` on."""

    shape: tuple[int, ...]
    kind: Any
    start: int
    bytes: int


class GgufFile:
    """An open GGUF file: ``metadata`` by key, ``tensors`` by name. The data stays mapped."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except FileNotFoundError:
            raise SourceError(f"{path} is missing. Give the path of a .gguf file") from None
        except (OSError, ValueError) as error:  # ValueError: an empty file can't be mapped
            raise SourceError(f"cannot read {path}: {error}") from error
        self._at = 0
        if self._take(4) != MAGIC:
            raise SourceError(f"{path} is not a GGUF file: it does not begin with 'GGUF'")
        version = self._number("I")
        if version not in VERSIONS:
            raise UnsupportedError(
                f"{path}: GGUF version {version} is not known; versions 2 and 3 are. A big-endian "
                "file must be converted first"
            )
        tensors, entries = self._count("tensors"), self._count("metadata entries")
        self.metadata: dict[str, Any] = {}
        for _ in range(entries):
            key = self._string("a metadata key")
            if key in self.metadata:
                raise self._damaged(f"key {key!r} is there twice")
            self.metadata[key] = self._value(self._number("I"), key)
        infos = [self._tensor_info() for _ in range(tensors)]
        self.tensors = self._place(infos)

    def data(self, name: str) -> np.ndarray:
        """Bytes of a tensor, u8 ``[n]``."""
        info = self.tensors[name]
        return np.frombuffer(self._data, dtype=np.uint8, count=info.bytes, offset=info.start)

    def _tensor_info(self) -> tuple[str, tuple[int, ...], int, int]:
        name = self._string("a tensor's name")
        dimensions = self._number("I")
        if dimensions > MAX_DIMENSIONS:
            raise self._damaged(f"tensor {name!r} has {dimensions} dimensions")
        shape = tuple(self._number("Q") for _ in range(dimensions))
        return name, shape[::-1], self._number("I"), self._number("Q")

    def _place(self, infos: list[tuple[str, tuple[int, ...], int, int]]) -> dict[str, TensorInfo]:
        from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

        alignment = self.metadata.get("general.alignment", 32)
        if not isinstance(alignment, int) or alignment < 1 or alignment & (alignment - 1):
            raise self._damaged(f"general.alignment is {alignment!r}, not a power of two")
        base = (self._at + alignment - 1) // alignment * alignment
        placed: dict[str, TensorInfo] = {}
        for name, shape, kind, offset in infos:
            if name in placed:
                raise self._damaged(f"tensor {name!r} is there twice")
            try:
                ggml = GGMLQuantizationType(kind)
            except ValueError:
                raise UnsupportedError(
                    f"{self.path}: tensor {name!r} has type {kind}, which is not known"
                ) from None
            block, size = GGML_QUANT_SIZES[ggml]
            count = 1
            for length in shape:  # Python's integers: no product overflows
                count *= length
            if count == 0 or (shape and shape[-1] % block):
                raise self._damaged(f"tensor {name!r} of type {ggml.name} has shape {list(shape)}")
            length = count // block * size
            if base + offset + length > len(self._data):
                raise SourceError(
                    f"{self.path} is cut short: tensor {name!r} ends at byte "
                    f"{base + offset + length}, the file has {len(self._data)}. Fetch it again"
                )
            placed[name] = TensorInfo(shape, ggml, base + offset, length)
        return placed

    def _value(self, kind: int, key: str) -> Any:  # noqa: ANN401
        if kind == _STRING:
            return self._string(key)
        if kind == _BOOL:
            return self._number("B") != 0
        if kind in _SCALARS:
            return self._number(_SCALARS[kind])
        if kind != _ARRAY:
            raise self._damaged(f"{key!r} has the unknown type {kind}")
        inner, count = self._number("I"), self._number("Q")
        if count > MAX_ARRAY:
            raise self._damaged(f"{key!r} is an array of {count} entries")
        if inner == _STRING:
            return [self._string(key) for _ in range(count)]
        if inner not in _SCALARS and inner != _BOOL:
            raise self._damaged(f"{key!r} is an array of the unknown type {inner}")
        numbers = np.dtype("?" if inner == _BOOL else "<" + _SCALARS[inner])
        return np.frombuffer(self._take(count * numbers.itemsize), dtype=numbers).tolist()

    def _count(self, what: str) -> int:
        count = self._number("Q")
        if count > MAX_ENTRIES:
            raise self._damaged(f"it says that it has {count} {what}")
        return count

    def _string(self, what: str) -> str:
        raw = self._take(self._number("Q"))
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            raise self._damaged(f"{what} is not UTF-8") from None

    def _number(self, code: str) -> Any:  # noqa: ANN401
        return struct.unpack("<" + code, self._take(struct.calcsize("<" + code)))[0]

    def _take(self, count: int) -> bytes:
        if count > len(self._data) - self._at:
            raise SourceError(
                f"{self.path} is cut short: {count} bytes are wanted at byte {self._at}, the file "
                f"has {len(self._data)}. Fetch it again"
            )
        taken = self._data[self._at : self._at + count]
        self._at += count
        return taken

    def _damaged(self, what: str) -> SourceError:
        return SourceError(f"{self.path} is damaged: {what}. Fetch it again")
