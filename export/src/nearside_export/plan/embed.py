"""Task ``embed``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nearside_export.architectures.encoder import families
from nearside_export.architectures.encoder.config import EncoderConfig
from nearside_export.errors import UsageError
from nearside_export.plan import costs
from nearside_export.plan.plan import Plan, delegates_of
from nearside_export.sources.sentence_transformers import EmbedderSource
from nearside_export.wanted import Wanted

DEFAULT_MAX_TOKENS = 512
"""Where neither the folder nor the caller says more."""

_QUANTISATION = {"fp32": "none", "fp16": "fp16", "int8": "pt2e-dynamic-int8"}


def plan(
    source: EmbedderSource,
    package: Path,
    variants: Sequence[Wanted],
    embedding_bits: int,
    tokens: int | None = None,
) -> Plan:
    """Estimate an export; `SourceError` and `UnsupportedError` as the export itself has them."""
    config = families.family(source.config).read(source.config)
    max_tokens(source, tokens)
    linear = config.layers * _layer(config)
    table = config.vocab_size * config.hidden_size
    positions = config.positions * config.hidden_size
    parameters = linear + table + positions
    size, seconds, memory = costs.FILES_BYTES + len(source.tokenizer), costs.START_SECONDS, 0.0
    for variant in variants:
        scheme = variant.scheme
        floats = {"fp32": 4, "fp16": 2}.get(scheme, 0) * (linear + table)
        size += 4 * positions + (floats or linear + table * embedding_bits // 8)
        seconds += config.layers * costs.SECONDS_A_LAYER[scheme]
        seconds += parameters * costs.SECONDS_A_PARAMETER
        memory = max(memory, parameters * costs.BYTES_A_PARAMETER[scheme])
    return Plan(
        package=package,
        quantisation=tuple(_QUANTISATION[v.scheme] for v in variants),
        parameters=parameters,
        package_bytes=size,
        work_bytes=size,
        memory_bytes=costs.START_BYTES + int(memory),
        seconds=seconds,
        delegates=delegates_of(variants),
    )


def max_tokens(source: EmbedderSource, asked: int | None) -> int:
    """Tokens a text at most: as asked for, or as the folder says, within the model's positions."""
    positions = families.family(source.config).read(source.config).max_tokens
    if asked is None:
        return min(source.max_tokens or DEFAULT_MAX_TOKENS, positions)
    if not 2 <= asked <= positions:
        raise UsageError(
            f"--max-tokens {asked} must be 2 to {positions}, the positions that the model has"
        )
    return asked


def _layer(config: EncoderConfig) -> int:
    """Weights of one layer's linear layers."""
    return config.hidden_size * (4 * config.hidden_size + 2 * config.intermediate_size)
