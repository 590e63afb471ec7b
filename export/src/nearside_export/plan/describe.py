"""Task ``describe``: sizes from the tensors' shapes, what can't be exported from the files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from nearside_export.architectures.decoder import families as decoders
from nearside_export.errors import UnsupportedError, UsageError
from nearside_export.plan import costs
from nearside_export.plan.plan import Plan, delegates_of
from nearside_export.sources import huggingface, image_processor
from nearside_export.sources.fields import Fields
from nearside_export.sources.safetensors import SafeTensors
from nearside_export.wanted import Wanted

ARCHITECTURES = ("Gemma3ForConditionalGeneration", "Gemma3nForConditionalGeneration")
DEFAULT_CONTEXT = 1024
_POSITIONS = dict(zip(ARCHITECTURES, (131_072, 32_768), strict=True))
"""Of a configuration that does not say: transformers' own values."""
_UNUSED = (".audio_tower.", ".embed_audio.")


def context_length(asked: int | None, most: int) -> int:
    """Positions in the cache: as asked for, or `DEFAULT_CONTEXT` where the model has as many."""
    if asked is None:
        return min(DEFAULT_CONTEXT, most)
    if asked > most:
        raise UsageError(f"--context {asked} is more than the {most} that the model was made for")
    return asked


def most_positions(config: Fields) -> int:
    """Positions that the model was made for."""
    stated = config.texts("architectures")
    usual = next((most for name, most in _POSITIONS.items() if name in stated), 1)
    return config.child("text_config").integer("max_position_embeddings", usual)


def plan(
    folder: Path,
    package: Path,
    variants: Sequence[Wanted],
    attention: str,
    context: int | None = None,
) -> Plan:
    """Estimate an export; `SourceError` and `UnsupportedError` as the export has them."""
    config = Fields.read(folder / huggingface.CONFIG)
    stated = config.texts("architectures")
    if not set(stated) & set(ARCHITECTURES):
        raise UnsupportedError(
            f"{config.name('architectures')} is {', '.join(stated)}, which `describe` can't "
            f"export; known: {', '.join(ARCHITECTURES)}"
        )
    context_length(context, most_positions(config))
    tokenizer = huggingface.read_tokenizer(folder, config)
    image_processor.read(folder)
    if ARCHITECTURES[0] in stated:
        decoders.read(config)
    layers = sum(
        config.child(part).integer("num_hidden_layers", 0)
        for part in ("text_config", "vision_config")
        if part in config
    )
    tensors = SafeTensors.of_folder(folder)
    parameters = sum(
        math.prod(tensors.shape(name))
        for name in tensors.names()
        if not any(part in f".{name}" for part in _UNUSED)
    )
    count = len(variants)
    size = costs.FILES_BYTES + len(tokenizer.json) + 4 * parameters * count
    seconds = layers * costs.SECONDS_A_LAYER["fp32"]
    seconds += parameters * costs.SECONDS_A_PARAMETER["fp32"]
    return Plan(
        package=package,
        quantisation=("none",) * count,
        parameters=parameters,
        package_bytes=size,
        work_bytes=size,
        memory_bytes=costs.START_BYTES + int(parameters * costs.BYTES_A_PARAMETER["fp32"]),
        seconds=costs.START_SECONDS + count * seconds,
        attention=attention,
        delegates=delegates_of(variants),
    )
