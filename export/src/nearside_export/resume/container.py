"""A file of named byte strings with JSON beside them, whole or not taken for one.

The first line is JSON: format, facts, name and length of each part, sha256 of the rest of the
header and of all parts. The parts follow.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FORMAT = "nearside-export work 1"
_MAX_HEADER = 64 << 20


class DamagedError(ValueError):
    """A file is not what was written, or not all of it."""


def write(path: Path, facts: Mapping[str, Any], parts: Mapping[str, Any]) -> None:
    """Write ``parts`` (bytes, or what has a buffer) so that ``path`` is there whole or not at all.

    `OSError` where the disk refuses; nothing is left behind then.
    """
    views = {name: memoryview(part).cast("B") for name, part in parts.items()}
    header = {"format": FORMAT, "facts": facts, "parts": [[n, len(v)] for n, v in views.items()]}
    digest = hashlib.sha256(_spell(header))
    for view in views.values():
        digest.update(view)
    temporary = path.with_name(f"{path.name}.part")
    try:
        with temporary.open("wb") as file:
            file.write(_spell({**header, "sha256": digest.hexdigest()}) + b"\n")
            for view in views.values():
                file.write(view)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read(path: Path) -> tuple[dict[str, Any], dict[str, memoryview]]:
    """Facts and parts of a file; `DamagedError` for what `write` has not written.

    `FileNotFoundError` where there is none.
    """
    with path.open("rb") as file:
        try:
            header = json.loads(file.readline(_MAX_HEADER))
            found = header.pop("sha256")
            lengths = [(str(name), int(length)) for name, length in header["parts"]]
            facts: dict[str, Any] = header["facts"]
            if header["format"] != FORMAT:
                raise DamagedError(f"{path} is of another version")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DamagedError(f"{path} has no header: {error}") from error
        if path.stat().st_size != file.tell() + sum(length for _, length in lengths):
            raise DamagedError(f"{path} is cut short or has more than it says")
        # Writable, so that tensors can be made of it without a copy.
        data = memoryview(bytearray(sum(length for _, length in lengths)))
        file.readinto(data)
    digest = hashlib.sha256(_spell(header))
    digest.update(data)
    if digest.hexdigest() != found:
        raise DamagedError(f"{path} does not have the sha256 that it was written with")
    parts, start = {}, 0
    for name, length in lengths:
        parts[name] = data[start : start + length]
        start += length
    return facts, parts


def _spell(header: Mapping[str, Any]) -> bytes:
    return json.dumps(header, sort_keys=True).encode()
