"""No quantisation: the fp32 module, exported as it is."""

from __future__ import annotations

import torch
from torch.export import ExportedProgram

NAME = "none"


def export(model: torch.nn.Module, example: torch.Tensor) -> ExportedProgram:
    """Export ``model`` (eval mode) with the static shape of ``example``."""
    return torch.export.export(model, (example,))
