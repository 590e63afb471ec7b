"""Lowering to OpenVINO, on Intel CPUs.

Needs the packages of `requirements.OPENVINO` and their dependencies beside the exporter's own
environment: the backend asks for them, and ExecuTorch's wheel does not declare it.
"""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING

from executorch.backends.openvino.partitioner import OpenvinoPartitioner
from executorch.exir.backend.backend_details import CompileSpec

from nearside_export.lower import partitioned
from nearside_export.lower.program import LoweredProgram

if TYPE_CHECKING:
    from torch.export import ExportedProgram


def lower(program: ExportedProgram, method: str = "forward") -> LoweredProgram:
    """Give OpenVINO every operator that it takes, for the device ``CPU``."""
    partitioner = OpenvinoPartitioner([CompileSpec("device", b"CPU")])
    # It prints a line an operator that it does not take; the manifest has them all.
    with contextlib.redirect_stdout(io.StringIO()):
        return partitioned.lower(program, [partitioner], method)
