"""PT2E static int8: per-channel symmetric weights, per-tensor affine activations.

Activation ranges are observed on calibration pictures and baked in. Batch norm is folded into
the convolutions while preparing.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    get_symmetric_quantization_config,
)
from torch.export import ExportedProgram
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from nearside_export.quantise.clamp_quantizer import ClampQuantizer

NAME = "pt2e-static-int8"


def export(
    model: torch.nn.Module, example: torch.Tensor, calibration: Iterable[torch.Tensor]
) -> ExportedProgram:
    """Quantise ``model`` (eval mode) with ranges seen on ``calibration`` and export it.

    ``example`` and every calibration tensor are f32 of the model's input shape.
    """
    quantizer = ClampQuantizer()
    quantizer.set_global(get_symmetric_quantization_config(is_per_channel=True))
    graph = torch.export.export(model, (example,)).module()
    prepared = prepare_pt2e(graph, quantizer)
    with torch.no_grad():
        for batch in calibration:
            prepared(batch)
    converted = convert_pt2e(prepared)
    return torch.export.export(converted, (example,))
