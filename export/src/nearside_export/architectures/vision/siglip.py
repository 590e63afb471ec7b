"""Gemma 3's eyes: a SigLIP tower, average pooling, a norm and a projection."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import torch

from nearside_export.errors import SourceError

if TYPE_CHECKING:
    from transformers import Gemma3ForConditionalGeneration


class Projection(torch.nn.Module):
    """Transformers' projector with its product as a linear layer, which can be quantised."""

    def __init__(self, projector: torch.nn.Module) -> None:
        super().__init__()
        self.side, self.avg_pool = projector.patches_per_image, projector.avg_pool
        self.norm = projector.mm_soft_emb_norm
        weight = projector.mm_input_projection_weight.detach().t().contiguous()
        self.linear = torch.nn.Linear(weight.shape[1], weight.shape[0], bias=False)
        self.linear.weight = torch.nn.Parameter(weight, requires_grad=False)

    def forward(self, patches: torch.Tensor) -> torch.Tensor:
        """f32 ``[1, P, W]`` to f32 ``[1, N, D]``."""
        square = patches.transpose(1, 2).unflatten(2, (self.side, self.side)).contiguous()
        return self.linear(self.norm(self.avg_pool(square).flatten(2).transpose(1, 2)))


class SiglipEncoder(torch.nn.Module):
    """Method ``vision_encoder``: f32 ``[1, 3, H, W]`` to f32 ``[1, N, D]``.

    A copy of ``model``'s modules that shares their parameters: what replaces one here leaves
    ``model`` as it is.
    """

    def __init__(self, model: Gemma3ForConditionalGeneration) -> None:
        super().__init__()
        shared = {id(parameter): parameter for parameter in model.parameters()}
        self.tower = copy.deepcopy(model.model.vision_tower, dict(shared))
        self.projector = copy.deepcopy(model.model.multi_modal_projector, dict(shared))
        vision = model.config.vision_config
        self.size = vision.image_size
        side = self.projector.tokens_per_side
        patches = vision.image_size // vision.patch_size
        self.tokens = model.config.mm_tokens_per_image
        if side**2 != self.tokens or patches % side:
            raise SourceError(
                f"mm_tokens_per_image is {self.tokens}, but {patches} x {patches} patches can't be "
                "averaged into a square of so many. Correct config.json or fetch it again"
            )

    def spell_projection_out(self) -> None:
        """Have the projector's product in a linear layer."""
        self.projector = Projection(self.projector)

    def forward(self, pixel_values: torch.Tensor) -> torch.Tensor:
        """Embed one picture, normalised as the image spec says."""
        return self.projector(self.tower(pixel_values=pixel_values).last_hidden_state)
