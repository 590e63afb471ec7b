"""Task ``embed``."""

from __future__ import annotations

from pathlib import Path

from nearside_export.architectures.encoder import families
from nearside_export.architectures.encoder.config import EncoderConfig
from nearside_export.plan import costs
from nearside_export.plan.plan import Plan
from nearside_export.sources.sentence_transformers import EmbedderSource

_QUANTISATION = {"fp32": "none", "int8": "pt2e-dynamic-int8"}


def plan(
    source: EmbedderSource, package: Path, schemes: tuple[str, ...], embedding_bits: int
) -> Plan:
    """Estimate an export; `SourceError` and `UnsupportedError` as the export itself has them."""
    config = families.family(source.config).read(source.config)
    linear = config.layers * _layer(config)
    table = config.vocab_size * config.hidden_size
    positions = config.positions * config.hidden_size
    parameters = linear + table + positions
    size, seconds, memory = costs.FILES_BYTES + len(source.tokenizer), costs.START_SECONDS, 0.0
    for scheme in schemes:
        floats = 4 * (linear + table)
        ints = linear + table * embedding_bits // 8
        size += 4 * positions + (floats if scheme == "fp32" else ints)
        seconds += config.layers * costs.SECONDS_A_LAYER[scheme]
        seconds += parameters * costs.SECONDS_A_PARAMETER[scheme]
        memory = max(memory, parameters * costs.BYTES_A_PARAMETER[scheme])
    return Plan(
        package=package,
        quantisation=tuple(_QUANTISATION[s] for s in schemes),
        parameters=parameters,
        package_bytes=size,
        work_bytes=size,
        memory_bytes=costs.START_BYTES + int(memory),
        seconds=seconds,
    )


def _layer(config: EncoderConfig) -> int:
    """Weights of one layer's linear layers."""
    return config.hidden_size * (4 * config.hidden_size + 2 * config.intermediate_size)
