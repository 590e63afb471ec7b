"""A file that a manifest names."""

from __future__ import annotations

import re
from dataclasses import dataclass

# As the published schema has it: names joined with /, none of them . or .., nothing absolute.
_PATH = re.compile(r"(?!/)(?!.*(^|/)\.\.?(/|$))[^\\:\x00-\x1f]+")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class FileRef:
    """A file of the package: path relative to the manifest, size in bytes, sha256 in hex.

    `ValueError` for a path that leaves the package, an empty file, or something else than a hash.
    """

    path: str
    bytes: int
    sha256: str

    def __post_init__(self) -> None:
        if not _PATH.fullmatch(self.path):
            raise ValueError(
                f"path {self.path!r} leaves the package; paths are relative, with / and without .."
            )
        if self.bytes < 1:
            raise ValueError(f"{self.path} has {self.bytes} bytes, at least 1 is needed")
        if not _SHA256.fullmatch(self.sha256):
            raise ValueError(f"sha256 {self.sha256!r} is not 64 lower-case hex digits")
