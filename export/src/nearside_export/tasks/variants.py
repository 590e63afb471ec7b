"""Variants of a package: their programs on disk, and what the manifest says of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nearside_export.lower.program import LoweredProgram
from nearside_export.manifest import FileRef, Quality, Variant
from nearside_export.package import file_ref
from nearside_export.versions import installed


def write(
    folder: Path,
    name: str,
    lowered: LoweredProgram,
    quality: Quality | None,
    command: str,
    external_data: Sequence[FileRef] = (),
    **facts: Any,  # noqa: ANN401
) -> Variant:
    """Write ``lowered`` to ``folder`` as ``NAME.pte`` and describe it.

    ``external_data`` are its ``.ptd`` files, which are there already; ``facts`` say how it was
    quantised, or why there is no ``quality`` (more of `Variant`'s fields).
    """
    file_name = f"{name}.pte"
    (folder / file_name).write_bytes(lowered.pte)
    return Variant(
        name=name,
        program=file_ref(folder, file_name),
        external_data=list(external_data),
        method=lowered.method,
        executorch=installed("executorch"),
        torch=installed("torch"),
        torchao=installed("torchao"),
        delegates=lowered.delegates,
        operators=lowered.operators,
        coverage=round(lowered.coverage, 4),
        planned_bytes=lowered.planned_bytes,
        methods=lowered.methods or None,
        quality=quality,
        export_command=command,
        **facts,
    )
