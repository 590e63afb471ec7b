"""Lowering to Core ML, on Apple's devices.

Needs `requirements.COREML`, whose wheels convert models on Linux too; they run on Apple's systems
only. The program holds an uncompiled model, which Core ML compiles when it is first loaded.
"""

from __future__ import annotations

import contextlib
import io
import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

from nearside_export.errors import LibraryError
from nearside_export.lower import partitioned
from nearside_export.lower.program import LoweredProgram

if TYPE_CHECKING:
    from torch.export import ExportedProgram

_LINEAR_BIAS = "common::fuse_linear_bias"
"""This pass takes any addition after a linear layer for its bias, and fails if it is a number."""


def lower(program: ExportedProgram, method: str = "forward", *, half: bool) -> LoweredProgram:
    """Give Core ML every operator that it takes, for iOS 16 and macOS 13 or later.

    ``half``: computed in f16, as the Neural Engine does; else in f32, on CPU and GPU.
    """
    said = io.StringIO()
    # It says to stderr which of Apple's libraries Linux has not, and draws bars of its own.
    with contextlib.redirect_stderr(said), _quiet():
        try:
            import coremltools as ct
            from executorch.backends.apple.coreml.compiler import CoreMLBackend
            from executorch.backends.apple.coreml.partition import CoreMLPartitioner
        except ImportError as error:
            raise LibraryError(
                f"Core ML's exporter can't be imported here ({error}): it needs coremltools 9.0 "
                "and ExecuTorch's wheel with executorchcoreml, for Linux x86_64 or macOS"
            ) from error
        specs = CoreMLBackend.generate_compile_specs(
            compute_precision=ct.precision.FLOAT16 if half else ct.precision.FLOAT32,
            minimum_deployment_target=ct.target.iOS16,
            pass_names=[p for p in ct.PassPipeline.DEFAULT.passes if p != _LINEAR_BIAS],
        )
        partitioner = CoreMLPartitioner(compile_specs=specs, take_over_mutable_buffer=False)
        return partitioned.lower(program, [partitioner], method)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
