"""PT2E static int8 by OpenVINO's own quantizer (NNCF): what its int8 kernels take.

Weights per channel and symmetric, activations per tensor and symmetric; ranges are observed on
calibration pictures and baked in.
"""

from __future__ import annotations

import torch
from executorch.backends.openvino.quantizer import OpenVINOQuantizer
from torch.export import ExportedProgram
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e


def export(
    model: torch.nn.Module, example: torch.Tensor, calibration: torch.Tensor
) -> ExportedProgram:
    """Quantise ``model`` (eval mode) with ranges seen on ``calibration`` and export it.

    ``example`` is f32 of the model's input shape, batch 1; ``calibration`` f32 ``[n, …]``.
    """
    traced = torch.export.export(model, (example,)).module()
    prepared = prepare_pt2e(traced, OpenVINOQuantizer())
    with torch.no_grad():
        for picture in calibration.split(1):
            prepared(picture)
    return torch.export.export(convert_pt2e(prepared, fold_quantize=False), (example,))
