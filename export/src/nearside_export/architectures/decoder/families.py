"""The families by the model type that a configuration states."""

from __future__ import annotations

from nearside_export.architectures.decoder import fields, gemma3, llama, qwen3
from nearside_export.architectures.decoder.config import DecoderConfig
from nearside_export.errors import UnsupportedError
from nearside_export.sources.fields import Fields

FAMILIES = {
    "llama": llama.read,
    "qwen3": qwen3.read,
    "gemma3_text": gemma3.read,
    "gemma3": gemma3.read,
}
_HEADS = ("ForCausalLM", "ForConditionalGeneration")


def read(config: Fields) -> DecoderConfig:
    """Read a decoder's configuration.

    `UnsupportedError` for a model type, or a value, that can't be exported; `SourceError` for a
    field that is missing or malformed.
    """
    kind = config.text("model_type")
    if kind not in FAMILIES:
        raise UnsupportedError(
            f"{config.name('model_type')} is {kind!r}, which `generate` can't export; "
            f"known: {', '.join(FAMILIES)}"
        )
    architectures = config.texts("architectures", None)
    if architectures and not any(a.endswith(_HEADS) for a in architectures):
        raise UnsupportedError(
            f"{config.name('architectures')} is {', '.join(architectures)}: that model does not "
            "write text. Give a folder whose architecture ends in ForCausalLM"
        )
    fields.refuse_foreign(config)
    return FAMILIES[kind](config)
