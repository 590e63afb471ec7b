"""PT2E static int8: per-channel symmetric weights, per-tensor affine activations.

Activation ranges are observed on calibration pictures and baked in. Preparing folds batch norm
into the convolutions; biases are corrected afterwards (see :mod:`.bias_correction`).
"""

from __future__ import annotations

import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import XNNPACKQuantizer
from torch.export import Dim, ExportedProgram
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.quantizer import Quantizer

from nearside_export.quantise import bias_correction
from nearside_export.quantise.vision_quantizer import VisionQuantizer

NAME = "pt2e-static-int8"

_OBSERVING_BATCH = 12
_CORRECTION_PICTURES = 66
"""Bias correction holds a whole layer's outputs in memory: about 1 GB for this many pictures."""


def export(
    model: torch.nn.Module,
    example: torch.Tensor,
    calibration: torch.Tensor,
    float_modules: tuple[str, ...] = (),
) -> ExportedProgram:
    """Quantise ``model`` (eval mode) with ranges seen on ``calibration`` and export it.

    ``example`` is f32 of the model's input shape, batch 1; ``calibration`` f32 ``[n, …]``. The
    exported program has the static shape of ``example``. The modules ``float_modules`` stay float.
    """
    prepared = _prepare(model, calibration, VisionQuantizer(float_modules))
    with torch.no_grad():
        for batch in calibration.split(_OBSERVING_BATCH):
            prepared(batch)
    converted = convert_pt2e(prepared)
    # Preparing with a quantizer that annotates nothing only folds batch norm.
    folded = _prepare(model, calibration, XNNPACKQuantizer())
    step = -(-len(calibration) // _CORRECTION_PICTURES)
    bias_correction.correct(converted, folded, calibration[::step])
    return torch.export.export(converted, (example,))


def _prepare(
    model: torch.nn.Module, calibration: torch.Tensor, quantizer: Quantizer
) -> torch.fx.GraphModule:
    """Trace with a free batch size, so that calibration runs in batches."""
    batch = Dim("batch", min=1, max=max(2, len(calibration)))
    program = torch.export.export(model, (calibration[:2],), dynamic_shapes=({0: batch},))
    return prepare_pt2e(program.module(), quantizer)
