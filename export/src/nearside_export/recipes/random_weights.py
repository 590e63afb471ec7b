"""Random weights that make every part of a model matter.

What a library starts training from hides mistakes: norms of exactly 1, scales of 0, projections so
small that a whole branch vanishes in the residual sum.
"""

from __future__ import annotations

import torch

SPREAD = 0.25
"""Standard deviation of a norm's weight around its neutral value."""


def fill(model: torch.nn.Module, generator: torch.Generator, neutral: float) -> None:
    """Overwrite all parameters in place, in the order of their names.

    ``neutral`` is the value of a norm's weight that changes nothing: 1, or 0 where the model adds
    1 itself.
    """
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            noise = torch.randn(parameter.shape, generator=generator)
            if parameter.dim() < 2:
                parameter.copy_(SPREAD * noise + (0.0 if name.endswith("bias") else neutral))
            else:
                # Each output is a sum over the other dimensions: of unit variance this way.
                parameter.copy_(noise / parameter[0].numel() ** 0.5)
