"""Which schemes a language model would pass its gate with, estimated without lowering anything."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from nearside_export import language_quality
from nearside_export.errors import ExportError
from nearside_export.lower.delegates import USUAL
from nearside_export.manifest import GenerateQuality
from nearside_export.progress import say
from nearside_export.quantise.choices import GROUP_SIZES
from nearside_export.tasks.advice import FP32
from nearside_export.wanted import Wanted

if TYPE_CHECKING:
    from nearside_export.tasks.generate import Request

_ORDER = ("8da4w", "int8", "int8w")
"""Schemes from the smallest on."""


def passing(
    variant: Wanted,
    request: Request,
    estimate: Callable[[Wanted, Request], GenerateQuality],
    *,
    loops: bool = False,
) -> str:
    """Name the smallest scheme that passes by its ``estimate``, by the options that ask for it.

    ``loops``: answers of ``variant`` did, which no estimate tells of; only others are tried then.
    """
    for other, candidate, options in _candidates(variant, request, loops):
        say(f"estimating {options}")
        try:
            quality = estimate(other, candidate)
        except ExportError as error:  # Groups that do not divide the layers, say.
            say(str(error))
            continue
        if language_quality.problems(quality):
            continue
        ratio = quality.perplexity / quality.perplexity_fp32
        return f"{options} (perplexity {ratio:.3f} times fp32's, estimated), or {FP32}"
    return FP32


def _candidates(
    variant: Wanted, request: Request, loops: bool
) -> Iterator[tuple[Wanted, Request, str]]:
    """Give what to try, smallest first: variant, request, and its options in words.

    All of the delegate that ``variant`` is for.
    """
    scheme, held = variant.scheme, variant.delegate.schemes["generate"]
    sizes = [s for s in reversed(GROUP_SIZES) if s <= request.group_size]
    order = [s for s in _ORDER if s in held]
    for other in order[order.index(scheme) + loops :] if scheme in order else ():
        name = other if variant.delegate.name == USUAL else f"{variant.delegate.name}-{other}"
        for bits in sorted({request.embedding_bits, 8}):
            for size in sizes if other == "8da4w" else [request.group_size]:
                candidate = dataclasses.replace(
                    request, embedding_bits=bits, group_size=size, rounding="auto"
                )
                if (other, candidate) != (scheme, request):
                    table = "" if bits == 8 else f" --embedding-bits {bits}"
                    groups = f" --group-size {size}" if other == "8da4w" else ""
                    yield (
                        Wanted(variant.delegate, other),
                        candidate,
                        f"--variant {name}{groups}{table}",
                    )
