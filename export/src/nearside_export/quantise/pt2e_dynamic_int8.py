"""PT2E dynamic int8: linear layers with per-channel symmetric weights, activations as they come.

XNNPACK finds the range of each row of activations (each token) when it runs and quantises them to
8 bits; everything else stays f32. Nothing is calibrated.
"""

from __future__ import annotations

from typing import Any

import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from torch.export import ExportedProgram
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

NAME = "pt2e-dynamic-int8"


def export(
    model: torch.nn.Module,
    example: tuple[torch.Tensor, ...],
    dynamic_shapes: Any = None,  # noqa: ANN401
) -> ExportedProgram:
    """Quantise ``model`` (eval mode) and export it for inputs like ``example``.

    ``dynamic_shapes`` are those of :func:`torch.export.export`.
    """
    quantizer = XNNPACKQuantizer()
    dynamic = get_symmetric_quantization_config(is_per_channel=True, is_dynamic=True)
    quantizer.set_operator_type(torch.ops.aten.linear.default, dynamic)
    traced = torch.export.export(model, example, dynamic_shapes=dynamic_shapes).module()
    prepared = prepare_pt2e(traced, quantizer)
    with torch.no_grad():
        # Weights are observed by a run like activations.
        prepared(*example)
    return torch.export.export(convert_pt2e(prepared), example, dynamic_shapes=dynamic_shapes)
