"""Gemma 3n's eyes: timm's MobileNetV5, norms and a projection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from nearside_export.errors import SourceError

if TYPE_CHECKING:
    from transformers import Gemma3nForConditionalGeneration


class MobileNetV5Encoder(torch.nn.Module):
    """Method ``vision_encoder``: f32 ``[1, 3, H, W]`` to f32 ``[1, N, D]``."""

    def __init__(self, model: Gemma3nForConditionalGeneration) -> None:
        super().__init__()
        self.tower = model.model.vision_tower.timm_model
        self.embed = model.model.embed_vision
        self.channels = model.config.vision_config.hidden_size
        self.tokens = model.config.vision_soft_tokens_per_image
        side = self.tower.msfa_output_resolution
        if side**2 != self.tokens:
            raise SourceError(
                f"vision_soft_tokens_per_image is {self.tokens}, but the tower gives {side} x "
                f"{side}. Correct config.json or fetch it again"
            )

    def forward(self, pixel_values: torch.Tensor) -> torch.Tensor:
        """Embed one picture, normalised as the image spec says."""
        features = self.tower.forward_features(pixel_values)
        rows = features.reshape(1, self.channels, self.tokens).permute(0, 2, 1)
        return self.embed(inputs_embeds=rows * self.channels**0.5)
