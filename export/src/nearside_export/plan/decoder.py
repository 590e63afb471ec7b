"""What the plans of all decoders have in common: positions, and what rounding allows."""

from __future__ import annotations

from collections.abc import Collection

from nearside_export.architectures.decoder.config import DecoderConfig
from nearside_export.errors import UsageError

DEFAULT_CONTEXT = 1024
LEAST_CONTEXT = 16
"""Positions that an integer variant is calibrated and measured with at least."""


BLOCK = 32
"""Columns of a block of our own operators' weights (`ops.packed`)."""


def check_blocks(config: DecoderConfig) -> None:
    """`UsageError` for layers that our own operators can't have."""
    for columns in (config.hidden_size, config.heads * config.head_dim, config.intermediate_size):
        if columns % BLOCK:
            raise UsageError(
                f"layers of {columns} columns are no whole blocks of {BLOCK}, which --delegate "
                "nearside needs: choose --delegate xnnpack"
            )


def context_length(asked: int | None, most: int) -> int:
    """Positions in the cache: as asked for, or `DEFAULT_CONTEXT` where the model has as many."""
    if asked is None:
        return min(DEFAULT_CONTEXT, most)
    if asked > most:
        raise UsageError(
            f"--context {asked} is more than the {most} positions that the model was made for"
        )
    return asked


def check_choices(
    config: DecoderConfig,
    schemes: Collection[str],
    context: int,
    group_size: int,
    rounding: str,
    *,
    gguf: bool,
) -> None:
    """`UsageError` for what rounding would refuse later; ``gguf``: the source is such a file."""
    if set(schemes) - {"fp32"} and context < LEAST_CONTEXT:
        raise UsageError(
            f"--context {context} is too short to measure integers with: give at least "
            f"{LEAST_CONTEXT}"
        )
    if "8da4w" not in schemes:
        return
    width = config.heads * config.head_dim
    for columns in (config.hidden_size, width, config.intermediate_size):
        if columns % group_size:
            raise UsageError(
                f"layers of {columns} columns are no whole groups of {group_size}: choose a "
                "smaller --group-size, or --variant int8"
            )
    if rounding == "source" and not gguf:
        raise UsageError("--rounding source is for GGUF files that hold integers; leave it out")
