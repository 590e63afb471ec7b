"""Gemma 3's eyes: a SigLIP tower, average pooling, a norm and a projection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from nearside_export.errors import SourceError

if TYPE_CHECKING:
    from transformers import Gemma3ForConditionalGeneration


class SiglipEncoder(torch.nn.Module):
    """Method ``vision_encoder``: f32 ``[1, 3, H, W]`` to f32 ``[1, N, D]``."""

    def __init__(self, model: Gemma3ForConditionalGeneration) -> None:
        super().__init__()
        self.tower = model.model.vision_tower
        self.projector = model.model.multi_modal_projector
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

    def forward(self, pixel_values: torch.Tensor) -> torch.Tensor:
        """Embed one picture, normalised as the image spec says."""
        return self.projector(self.tower(pixel_values=pixel_values).last_hidden_state)
