"""Recipe ``gemma3-vision``: a Gemma 3 with a SigLIP tower, sliding and full layers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from nearside_export.recipes import gemma
from nearside_export.recipes.random_weights import fill

if TYPE_CHECKING:
    from transformers import Gemma3ForConditionalGeneration

SEED = 5
IMAGE_SIZE = 32
PATCH = 4
TOKENS_PER_SIDE = 4


def text_settings() -> dict[str, Any]:
    """Give the text decoder's settings: the window is shorter than an image's tokens."""
    return {
        "vocab_size": 320,
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 32,
        "query_pre_attn_scalar": 24,
        "sliding_window": 8,
        "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
        "max_position_embeddings": 256,
        "rope_parameters": {
            "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
            "full_attention": {"rope_type": "linear", "rope_theta": 1000000.0, "factor": 8.0},
        },
        "pad_token_id": gemma.PAD,
        "bos_token_id": gemma.BOS,
        "eos_token_id": gemma.EOS,
    }


def vision_settings() -> dict[str, Any]:
    """Give the tower's settings."""
    return {
        "model_type": "siglip_vision_model",
        "hidden_size": 48,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "image_size": IMAGE_SIZE,
        "patch_size": PATCH,
        "vision_use_head": False,
    }


def model() -> Gemma3ForConditionalGeneration:
    """Build the model with its seeded weights, in eager attention, f32."""
    from transformers import Gemma3Config, Gemma3ForConditionalGeneration

    config = Gemma3Config(
        text_config=text_settings(),
        vision_config=vision_settings(),
        mm_tokens_per_image=TOKENS_PER_SIDE**2,
        boi_token_index=gemma.BEGIN_OF_IMAGE,
        eoi_token_index=gemma.END_OF_IMAGE,
        image_token_index=gemma.IMAGE_TOKEN,
        attn_implementation="eager",
    )
    built = Gemma3ForConditionalGeneration(config).eval()
    fill(built, torch.Generator().manual_seed(SEED), neutral=0.0)
    with torch.no_grad():
        for name, parameter in built.named_parameters():
            # SigLIP's are layer norms, around 1; Gemma's add 1 themselves.
            if "vision_tower" in name and "norm" in name and name.endswith("weight"):
                parameter.add_(1.0)
    return built


def write(folder: Path) -> None:
    """Write the model as a Hugging Face folder."""
    model().save_pretrained(folder)
    gemma.write_around(folder, IMAGE_SIZE, mean=0.5)
