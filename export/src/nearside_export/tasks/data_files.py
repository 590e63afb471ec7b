"""The ``.ptd`` files of a package, which its variants share."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from nearside_export.lower.external_weights import merge
from nearside_export.lower.program import LoweredProgram
from nearside_export.manifest import FileRef, Variant
from nearside_export.package import file_ref


def write(folder: Path, lowered: LoweredProgram) -> list[FileRef]:
    """Write a program's data files; one that a variant before has written takes the new data up."""
    for name, content in lowered.data.items():
        file = folder / name
        file.write_bytes(merge([file.read_bytes(), content]) if file.exists() else content)
    return [file_ref(folder, name) for name in lowered.data]


def measured_again(folder: Path, variants: Sequence[Variant]) -> list[Variant]:
    """Give variants the sizes and checksums that their data files have now."""
    return [
        dataclasses.replace(
            variant, external_data=[file_ref(folder, d.path) for d in variant.external_data]
        )
        for variant in variants
    ]


@contextmanager
def as_one(files: Sequence[Path]) -> Iterator[Path | None]:
    """Give the one file that ExecuTorch's wheel takes, made of several if need be; or none."""
    if len(files) < 2:
        yield files[0] if files else None
        return
    # Not beside them: a package that is verified may not be written to.
    with tempfile.TemporaryDirectory() as folder:
        one = Path(folder) / "data.ptd"
        one.write_bytes(merge([file.read_bytes() for file in files]))
        yield one
