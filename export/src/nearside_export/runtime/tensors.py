"""safetensors documents in a stream, as ``nearside call --stream`` takes and gives them.

The format: eight bytes with the length of a JSON header, the header, and the tensors' elements.
https://huggingface.co/docs/safetensors
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import BinaryIO

import numpy as np

from nearside_export.errors import MethodError
from nearside_export.runtime import Array, contiguous

_DTYPES = {
    "BOOL": np.dtype(np.bool_),
    "U8": np.dtype(np.uint8),
    "I8": np.dtype(np.int8),
    "U16": np.dtype(np.uint16),
    "I16": np.dtype(np.int16),
    "U32": np.dtype(np.uint32),
    "I32": np.dtype(np.int32),
    "U64": np.dtype(np.uint64),
    "I64": np.dtype(np.int64),
    "F16": np.dtype(np.float16),
    "F32": np.dtype(np.float32),
    "F64": np.dtype(np.float64),
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_BF16 = "BF16"


def encode(arrays: Sequence[Array], facts: Mapping[str, str]) -> bytes:
    """Give a document whose tensors are named by their place, from ``0``."""
    header: dict[str, object] = {"__metadata__": dict(facts)}
    parts = []
    start = 0
    for place, array in enumerate(arrays):
        name = _NAMES.get(array.dtype.newbyteorder("="))
        if name is None:
            raise MethodError(f"input {place} is of {array.dtype}, which no tensor can be")
        part = contiguous(array).tobytes()
        span = [start, start + len(part)]
        header[str(place)] = {"dtype": name, "shape": list(array.shape), "data_offsets": span}
        parts.append(part)
        start += len(part)
    text = json.dumps(header).encode()
    return b"".join([len(text).to_bytes(8, "little"), text, *parts])


def decode(stream: BinaryIO) -> tuple[list[Array], dict[str, str]]:
    """Read one document: its tensors by their place, and its facts. bf16 becomes f32.

    Raises ``EOFError`` where the stream ends.
    """
    header = json.loads(_read(stream, int.from_bytes(_read(stream, 8), "little")))
    facts = header.pop("__metadata__", {})
    end = max((info["data_offsets"][1] for info in header.values()), default=0)
    data = memoryview(_read(stream, end))
    arrays = []
    for place in range(len(header)):
        info = header[str(place)]
        start, stop = info["data_offsets"]
        arrays.append(_array(info["dtype"], data[start:stop]).reshape(info["shape"]))
    return arrays, facts


def _array(name: str, data: memoryview) -> Array:
    if name == _BF16:
        wide = np.frombuffer(data, np.uint16).astype(np.uint32) << 16
        return wide.view(np.float32)
    # Copied, so that it can be written to and is aligned.
    return np.frombuffer(data, _DTYPES[name]).copy()


def _read(stream: BinaryIO, count: int) -> bytes:
    data = stream.read(count)
    if len(data) < count:
        raise EOFError
    return data
