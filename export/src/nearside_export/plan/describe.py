"""Task ``describe``: sizes from the tensors' shapes, what can't be exported from the files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from nearside_export.architectures.decoder import families as decoders
from nearside_export.errors import UnsupportedError
from nearside_export.plan import costs
from nearside_export.plan.plan import Plan, delegates_of
from nearside_export.sources import huggingface, image_processor
from nearside_export.sources.fields import Fields
from nearside_export.sources.safetensors import SafeTensors
from nearside_export.wanted import Wanted

ARCHITECTURES = ("Gemma3ForConditionalGeneration", "Gemma3nForConditionalGeneration")
_UNUSED = (".audio_tower.", ".embed_audio.")


def plan(folder: Path, package: Path, variants: Sequence[Wanted], attention: str) -> Plan:
    """Estimate an export; `SourceError` and `UnsupportedError` as the export has them."""
    config = Fields.read(folder / huggingface.CONFIG)
    stated = config.texts("architectures")
    if not set(stated) & set(ARCHITECTURES):
        raise UnsupportedError(
            f"{config.name('architectures')} is {', '.join(stated)}, which `describe` can't "
            f"export; known: {', '.join(ARCHITECTURES)}"
        )
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
