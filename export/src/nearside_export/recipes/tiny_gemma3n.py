"""Recipe ``gemma3n``: a Gemma 3n with every feature of its text decoder and a MobileNetV5."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from nearside_export.recipes import gemma
from nearside_export.recipes.random_weights import fill

if TYPE_CHECKING:
    from transformers import Gemma3nForConditionalGeneration, Gemma3nTextConfig

SEED = 3
IMAGE_SIZE = 64
TOKENS_PER_SIDE = 2
VISION_VOCABULARY = AUDIO_VOCABULARY = 8
VISION_OFFSET = gemma.TEXT_TOKENS
AUDIO_OFFSET = VISION_OFFSET + VISION_VOCABULARY

# A stage each of the 300M encoder's kinds of block; see timm's mobilenetv5.py for the letters.
_BLOCKS = (
    ("er_r1_k3_s2_e2_c8",),
    ("uir_r1_a3_k5_s2_e2_c16",),
    (
        "uir_r1_a5_k5_s2_e2_c24",
        "uir_r1_a5_k0_s1_e2_c24",
        "uir_r1_a0_k0_s1_e1_c24",
        "mqa_r1_k3_h2_v2_s1_d8_c24",
        "uir_r1_a0_k0_s1_e2_c24",
    ),
    ("uir_r1_a5_k5_s2_e2_c32", "mqa_r1_k3_h2_s1_d8_c32", "uir_r1_a0_k0_s1_e2_c32"),
)


def text_settings() -> dict[str, Any]:
    """Give the text decoder's settings: 5 layers, the last 2 sharing keys and values."""
    kinds = {"s": "sliding_attention", "f": "full_attention"}
    return {
        "vocab_size": AUDIO_OFFSET + AUDIO_VOCABULARY,
        "vocab_size_per_layer_input": VISION_OFFSET,
        "hidden_size": 64,
        "hidden_size_per_layer_input": 8,
        "intermediate_size": 96,
        "num_hidden_layers": 5,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "layer_types": [kinds[k] for k in "ssfsf"],
        "num_kv_shared_layers": 2,
        "sliding_window": 6,
        "max_position_embeddings": 256,
        "altup_num_inputs": 4,
        "laurel_rank": 8,
        "activation_sparsity_pattern": [0.95, 0.3, 0.0, 0.8, 0.0],
        "final_logit_softcapping": 5.0,
        "eos_token_id": gemma.EOS,
        "bos_token_id": gemma.BOS,
        "pad_token_id": gemma.PAD,
    }


def text_config() -> Gemma3nTextConfig:
    """Make transformers' config of the text decoder."""
    from transformers import Gemma3nTextConfig

    return Gemma3nTextConfig(**text_settings())


def vision_settings() -> dict[str, Any]:
    """Give the settings of the tower, whose output has 2048 channels whatever its size."""
    from timm.models._efficientnet_builder import decode_arch_def

    return {
        "model_args": {
            "block_args": decode_arch_def([list(stage) for stage in _BLOCKS]),
            "stem_size": 8,
            "msfa_output_resolution": TOKENS_PER_SIDE,
        },
        "vocab_size": VISION_VOCABULARY,
        "vocab_offset": VISION_OFFSET,
    }


def audio_settings() -> dict[str, Any]:
    """Give the settings of the smallest audio tower, which transformers builds in any case."""
    return {
        "vocab_size": AUDIO_VOCABULARY,
        "vocab_offset": AUDIO_OFFSET,
        "hidden_size": 16,
        "conf_num_attention_heads": 2,
        "conf_num_hidden_layers": 1,
        "sscp_conv_channel_size": [4, 4],
    }


def model() -> Gemma3nForConditionalGeneration:
    """Build the model with its seeded weights, in eager attention, f32."""
    from transformers import Gemma3nConfig, Gemma3nForConditionalGeneration

    settings = vision_settings()
    config = Gemma3nConfig(
        text_config=text_settings(),
        vision_config=copy.deepcopy(settings),
        audio_config=audio_settings(),
        vision_soft_tokens_per_image=TOKENS_PER_SIDE**2,
        audio_soft_tokens_per_image=4,
        boi_token_id=gemma.BEGIN_OF_IMAGE,
        eoi_token_id=gemma.END_OF_IMAGE,
        image_token_id=gemma.IMAGE_TOKEN,
        boa_token_id=gemma.PAD,
        eoa_token_id=AUDIO_OFFSET,
        audio_token_id=AUDIO_OFFSET + 1,
        attn_implementation="eager",
    )
    built = Gemma3nForConditionalGeneration(config).eval()
    # timm writes objects into the settings that it builds from; those can't go to config.json.
    config.vision_config.model_args = settings["model_args"]
    randomise(built)
    return built


def randomise(built: torch.nn.Module) -> None:
    """Give a Gemma 3n model its seeded weights."""
    generator = torch.Generator().manual_seed(SEED)
    fill(built, generator, neutral=1.0)
    with torch.no_grad():
        for name, parameter in built.named_parameters():
            if name.endswith("modality_router.weight"):
                # The router's input is divided by the hidden size: bring tanh off its origin.
                parameter.mul_(parameter.shape[1] / 2)
            elif name.endswith(("prediction_coefs.weight", "q_norm.weight")):
                # Tame, so that rounding noise doesn't double from layer to layer.
                parameter.mul_(0.4)
            elif name.endswith(("embed_tokens.weight", "embed_tokens_per_layer.weight")):
                parameter.mul_(2.0)


def write(folder: Path) -> None:
    """Write the model as a Hugging Face folder."""
    model().save_pretrained(folder)
    gemma.write_around(folder, IMAGE_SIZE, mean=None)
