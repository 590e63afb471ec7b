"""Task ``describe``: sizes from the tensors' shapes, what can't be exported from the files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from nearside_export.architectures.decoder import families as decoders
from nearside_export.errors import UnsupportedError
from nearside_export.plan import costs
from nearside_export.plan.decoder import check_choices, context_length
from nearside_export.plan.plan import Plan, delegates_of
from nearside_export.sources import huggingface, image_processor
from nearside_export.sources.fields import Fields
from nearside_export.sources.safetensors import SafeTensors
from nearside_export.wanted import Wanted

ARCHITECTURES = ("Gemma3ForConditionalGeneration", "Gemma3nForConditionalGeneration")
_POSITIONS = dict(zip(ARCHITECTURES, (131_072, 32_768), strict=True))
"""Of a configuration that does not say: transformers' own values."""
_UNUSED = (".audio_tower.", ".embed_audio.")
_EYES = (".vision_tower.", ".multi_modal_projector.")
_TABLE = ".embed_tokens."
_QUANTISATION = {"fp32": "none", "int8": "int8-dynamic", "8da4w": "8da4w"}


def most_positions(config: Fields) -> int:
    """Positions that the model was made for."""
    stated = config.texts("architectures")
    usual = next((most for name, most in _POSITIONS.items() if name in stated), 1)
    return config.child("text_config").integer("max_position_embeddings", usual)


def check_variants(config: Fields, variants: Sequence[Wanted]) -> None:
    """`UnsupportedError` for variants that the architecture can't have."""
    integer = [v.scheme for v in variants if v.scheme != "fp32"]
    if integer and ARCHITECTURES[1] in config.texts("architectures"):
        raise UnsupportedError(
            f"{ARCHITECTURES[1]} can't be exported as {' and '.join(integer)} by `describe`: Gemma "
            "3n goes as --variant fp32 only; Gemma 3 goes as fp32, int8 and 8da4w"
        )


def plan(
    folder: Path,
    package: Path,
    variants: Sequence[Wanted],
    attention: str,
    group_size: int = 32,
    rounding: str = "auto",
    embedding_bits: int = 8,
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
    check_variants(config, variants)
    positions = context_length(context, most_positions(config))
    tokenizer = huggingface.read_tokenizer(folder, config)
    image_processor.read(folder)
    if ARCHITECTURES[0] in stated:
        schemes = [variant.scheme for variant in variants]
        facts = decoders.read(config)
        check_choices(facts, schemes, positions, group_size, rounding, gguf=False)
    layers = sum(
        config.child(part).integer("num_hidden_layers", 0)
        for part in ("text_config", "vision_config")
        if part in config
    )
    tensors = SafeTensors.of_folder(folder)
    counts = {
        name: math.prod(tensors.shape(name))
        for name in tensors.names()
        if not any(part in f".{name}" for part in _UNUSED)
    }
    parameters = sum(counts.values())
    eyes = sum(n for name, n in counts.items() if any(part in f".{name}" for part in _EYES))
    table = sum(n for name, n in counts.items() if _TABLE in f".{name}")
    linear = parameters - eyes - table
    size, memory, seconds = costs.FILES_BYTES + len(tokenizer.json), 0.0, costs.START_SECONDS
    quantisation = []
    for scheme in (variant.scheme for variant in variants):
        said = _QUANTISATION[scheme]
        if scheme == "fp32":
            size += 4 * parameters
        else:
            # Scales take a thirtieth at most; offsets, where rounding has them, 4 bytes a group.
            layer = 1.0 if scheme == "int8" else 0.5 + 6 / group_size
            size += int(eyes + layer * linear + table * (embedding_bits / 8 + 0.2))
        if scheme == "8da4w":
            said += f", groups of {group_size}, rounding {rounding}"
            seconds += linear * costs.ROUNDING_SECONDS[rounding]
        seconds += layers * costs.SECONDS_A_LAYER[scheme]
        seconds += parameters * costs.SECONDS_A_PARAMETER
        memory = max(memory, parameters * costs.BYTES_A_PARAMETER[scheme])
        quantisation.append(said)
    return Plan(
        package=package,
        quantisation=tuple(quantisation),
        parameters=parameters,
        package_bytes=size,
        work_bytes=size,
        memory_bytes=costs.START_BYTES + int(memory),
        seconds=seconds,
        attention=attention,
        delegates=delegates_of(variants),
    )
