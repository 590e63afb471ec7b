"""Task ``generate``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nearside_export.architectures.decoder import families
from nearside_export.architectures.decoder.config import DecoderConfig
from nearside_export.errors import SourceError
from nearside_export.plan import costs
from nearside_export.plan.decoder import BLOCK, check_blocks, check_choices, context_length
from nearside_export.plan.plan import Plan, delegates_of
from nearside_export.sources.model import ModelSource
from nearside_export.wanted import Wanted

_QUANTISATION = {
    "fp32": "none",
    "int8": "int8-dynamic",
    "8da4w": "8da4w",
    "int8w": "int8-weight-only",
}
_SCALE_BYTES = 2
"""Of a group of 4-bit weights: bfloat16."""
_OFFSET_BYTES = 4
_OWN_OFFSET_BYTES = 2
_ROW_BYTES = 4
_INT4_KINDS = {"Q4_0", "Q4_1"}


def plan(
    source: ModelSource,
    package: Path,
    variants: Sequence[Wanted],
    context: int | None,
    group_size: int,
    rounding: str,
    attention: str,
    methods: str = "forward",
    embedding_bits: int = 8,
) -> Plan:
    """Estimate an export; `SourceError` and `UnsupportedError` as the export itself has them."""
    config = families.read(source.config)
    positions = context_length(context, config.max_context)
    cache = 8 * len(config.layers) * config.kv_heads * config.head_dim * positions
    _check_layers(config, source.tensors.names())
    gguf = source.origin.startswith("GGUF")
    schemes = [variant.scheme for variant in variants]
    check_choices(config, schemes, positions, group_size, rounding, gguf=gguf)
    if any(variant.delegate.own for variant in variants):
        check_blocks(config)
    linear = len(config.layers) * _layer(config)
    table = config.vocab_size * config.hidden_size
    tables = 1 if config.tied else 2
    parameters = linear + tables * table
    if rounding == "auto" and gguf:
        held = getattr(source.tensors, "kinds", lambda: set())()
        rounding = "source" if held and held <= _INT4_KINDS else rounding
    size, rounded, memory = costs.FILES_BYTES + len(source.tokenizer.json), 0.0, 0.0
    seconds, quantisation = costs.START_SECONDS, []
    layers = len(config.layers) * len(methods.split(","))
    for variant in variants:
        scheme, own = variant.scheme, variant.delegate.own
        said = _QUANTISATION[scheme]
        if scheme == "fp32":
            size += 4 * (linear + tables * table)
        else:
            # An untied head keeps its 8 bits.
            size += table * embedding_bits // 8 + (tables - 1) * table
            size += 2 * _ROW_BYTES * config.vocab_size
            if embedding_bits == 4:
                size += (_ROW_BYTES + _SCALE_BYTES) * table // 32
        if scheme in ("int8", "int8w"):
            size += linear
        elif scheme == "8da4w":
            # Which way predicts best is not known yet: room for all.
            symmetric = rounding in ("nearest", "hqq", "gptq")
            offsets = 0 if symmetric else _OWN_OFFSET_BYTES if own else _OFFSET_BYTES
            # Our kernels have a scale in each block, whatever the groups.
            size += int(linear * (0.5 + (_SCALE_BYTES + offsets) / (BLOCK if own else group_size)))
            rounded += linear * (1 + 4 / group_size)
            seconds += linear * costs.ROUNDING_SECONDS[rounding]
            said += f", groups of {group_size}, rounding {rounding}"
        seconds += layers * costs.SECONDS_A_LAYER["own" if own else scheme]
        seconds += parameters * costs.SECONDS_A_PARAMETER
        memory = max(memory, parameters * costs.BYTES_A_PARAMETER[scheme])
        quantisation.append(said)
    return Plan(
        package=package,
        quantisation=tuple(quantisation),
        parameters=parameters,
        package_bytes=size,
        work_bytes=size + int(rounded),
        memory_bytes=costs.START_BYTES + int(memory) + 4 * cache,
        seconds=seconds,
        attention="fused" if all(v.delegate.own for v in variants) else attention,
        delegates=delegates_of(variants),
    )


def _layer(config: DecoderConfig) -> int:
    """Weights of one layer's linear layers."""
    width = config.head_dim * (2 * config.heads + 2 * config.kv_heads)
    return config.hidden_size * (width + 3 * config.intermediate_size)


def _check_layers(config: DecoderConfig, names: list[str]) -> None:
    """`SourceError` where the weights lack a layer that the configuration has."""
    for index in (0, len(config.layers) - 1):
        part = f"layers.{index}.self_attn.q_proj.weight"
        if not any(name.endswith(f".{part}") or name == part for name in names):
            raise SourceError(
                f"tensor 'model.{part}' is missing from the weights. A shard may be missing, or "
                "the configuration has more layers than the weights"
            )
