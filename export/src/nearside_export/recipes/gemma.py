"""What tiny Gemmas that see have in common: special tokens, chat template, image processing."""

from __future__ import annotations

from pathlib import Path

from nearside_export.recipes import byte_tokenizer, files

SPECIAL = ["<pad>", "<eos>", "<bos>", "<start_of_turn>", "<end_of_turn>", "<start_of_image>"]
PAD, EOS, BOS, BEGIN_OF_TURN, END_OF_TURN, BEGIN_OF_IMAGE = range(len(SPECIAL))
IMAGE_SPECIAL = ["<end_of_image>", "<image_soft_token>"]
TEXT_TOKENS = len(SPECIAL) + byte_tokenizer.BYTES + len(byte_tokenizer.MERGES)
END_OF_IMAGE, IMAGE_TOKEN = TEXT_TOKENS, TEXT_TOKENS + 1
"""Above all text tokens, as in Gemma 3 and 3n."""

CHAT_TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<start_of_turn>"
    "{{ 'model' if m['role'] == 'assistant' else m['role'] }}\n"
    "{% if m['content'] is string %}{{ m['content'] }}{% else %}{% for part in m['content'] %}"
    "{{ '<start_of_image>' if part['type'] == 'image' else part['text'] }}{% endfor %}{% endif %}"
    "<end_of_turn>\n{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)


def write_around(folder: Path, size: int, mean: float | None) -> None:
    """Write the files beside config and weights.

    Pictures are stretched to ``size`` x ``size``; values 0..1 become -1..1 around ``mean``, unless
    that is null.
    """
    byte_tokenizer.write(folder, SPECIAL, bos="<bos>", last=IMAGE_SPECIAL)
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "<bos>",
        "eos_token": "<eos>",
        "add_bos_token": True,
    }
    files.write_json(folder / "tokenizer_config.json", settings)
    generation = {"bos_token_id": BOS, "eos_token_id": [EOS, END_OF_TURN]}
    files.write_json(folder / "generation_config.json", generation)
    centre = [0.5 if mean is None else mean] * 3
    processor = {
        "image_processor_type": "Gemma3ImageProcessor" if mean else "SiglipImageProcessorFast",
        "do_resize": True,
        "size": {"height": size, "width": size},
        "resample": 2,
        "do_rescale": True,
        "rescale_factor": 1 / 255,
        "do_normalize": mean is not None,
        "image_mean": centre,
        "image_std": [0.5, 0.5, 0.5],
    }
    files.write_json(folder / "preprocessor_config.json", processor)
    (folder / "chat_template.jinja").write_text(CHAT_TEMPLATE, encoding="utf-8")
    files.write_card(folder)
