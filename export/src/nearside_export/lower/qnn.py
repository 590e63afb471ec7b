"""Lowering to Qualcomm's QNN, for the NPU (HTP) of one chip, in f16.

Needs Qualcomm's SDK (`requirements.qnn_sdk`). Not run with it here: only up to the start of its
libraries, which must be of the interface that ExecuTorch's library was built for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from executorch.backends.qualcomm.utils.utils import (
    generate_htp_compiler_spec,
    generate_qnn_executorch_compiler_spec,
    to_edge_transform_and_lower_to_qnn,
)

from nearside_export.errors import LibraryError
from nearside_export.lower import requirements
from nearside_export.lower.coverage import coverage
from nearside_export.lower.partitioned import backend_config
from nearside_export.lower.program import LoweredProgram, describe
from nearside_export.lower.requirements import QNN_HOST, QNN_SDK

if TYPE_CHECKING:
    from torch.export import ExportedProgram


def lower(program: ExportedProgram, soc: str, method: str = "forward") -> LoweredProgram:
    """Give QNN every operator that it takes, compiled for the chip ``soc``, such as ``SM8650``.

    `UsageError` for a chip that ExecuTorch does not know, `LibraryError` where Qualcomm's libraries
    are missing or don't start.
    """
    chip, root = requirements.qnn_chip(soc), requirements.qnn_sdk()
    options = generate_htp_compiler_spec(use_fp16=True)
    specs = generate_qnn_executorch_compiler_spec(chip, options)
    inputs = program.example_inputs[0] if program.example_inputs else ()
    try:
        edge = to_edge_transform_and_lower_to_qnn({method: program.module()}, inputs, specs)
    except RuntimeError as error:
        if "QNN backend" not in str(error):
            raise
        raise LibraryError(
            f"Qualcomm's libraries in {root} did not start: {error} They must be those of SDK "
            f"{QNN_SDK}, and the linker must find them: LD_LIBRARY_PATH={root / QNN_HOST}"
        ) from error
    share = coverage(edge.exported_program(method))
    return describe(edge.to_executorch(backend_config()), method, share)
