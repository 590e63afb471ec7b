"""Task ``generate``: language models to packages."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nearside_export import language_quality, package
from nearside_export.architectures.decoder import export as decoder_export
from nearside_export.architectures.decoder import families, weights
from nearside_export.architectures.decoder.attention import KINDS
from nearside_export.architectures.decoder.config import DecoderConfig
from nearside_export.architectures.decoder.model import Decoder
from nearside_export.architectures.packed_decoder.model import PackedDecoder
from nearside_export.errors import UsageError
from nearside_export.lower import blame, lowering
from nearside_export.lower.program import LoweredProgram
from nearside_export.manifest import Generate, GenerateQuality, Manifest, Variant
from nearside_export.manifest.variant import KvCache
from nearside_export.package import (
    clean_name,
    licence_of,
    refuse_dropping,
    staged_folder,
    write_manifest,
)
from nearside_export.plan.decoder import context_length
from nearside_export.progress import stage
from nearside_export.quantise import decoder
from nearside_export.quantise.choices import USUAL_CACHE
from nearside_export.resume.work import NO_WORK, NOTHING_KEPT, Keeping, Work
from nearside_export.runtime import nearside
from nearside_export.sources.model import ModelSource
from nearside_export.tasks import (
    data_files,
    decoder_facts,
    generate_advice,
    generate_quality,
    preflight,
    text_files,
    variants,
)
from nearside_export.tasks.advice import advised
from nearside_export.tasks.generate_quality import GATES
from nearside_export.wanted import Wanted, read

AnyDecoder = Decoder | PackedDecoder
"""Both are called alike."""

MAX_PREFILL = 128
"""Tokens a call at most, unless told otherwise."""


@dataclass(frozen=True)
class Request:
    """What to export: ``variants`` by name (see `wanted.read`).

    ``context_length`` positions, ``max_prefill_tokens`` a call at most. ``attention`` is ``plain``
    or ``fused``, ``methods`` one of `decoder_export.METHODS`; ``licence`` and ``name`` override the
    source's. ``group_size`` and ``rounding`` are of 4-bit variants, ``embedding_bits``, 8 or 4, of
    integer ones (see `quantise.decoder`), ``cache`` is what variants of our own operators keep keys
    and values as.
    ``external_weights``: all of them in a ``.ptd`` file that the variants share. ``unmeasured``
    allows variants that don't run here.
    """

    variants: tuple[str, ...] = ("fp32",)
    group_size: int = 32
    rounding: str = "auto"
    embedding_bits: int = 8
    context_length: int | None = None
    max_prefill_tokens: int = MAX_PREFILL
    cache: KvCache = USUAL_CACHE
    attention: str = "plain"
    methods: str = decoder_export.FORWARD
    external_weights: bool = False
    unmeasured: bool = False
    licence: str | None = None
    name: str | None = None


def export_package(
    source: ModelSource,
    request: Request,
    out: Path,
    command: str,
    keeping: Keeping = NOTHING_KEPT,
) -> Path:
    """Export ``source`` into a package folder inside ``out``; return the folder.

    `SourceError` and `UnsupportedError` say what of the model can't be exported, `QualityError`
    that the program is below its gate. The package is written whole or not at all.
    """
    licence = licence_of(source.origin, request.licence, source.licence)
    wanted = read(request.variants, "generate")
    reasons = preflight.check(
        wanted, external_weights=request.external_weights, unmeasured=request.unmeasured
    )
    if request.attention not in KINDS:
        raise UsageError(f"unknown attention {request.attention!r}; known: {', '.join(KINDS)}")
    if request.methods not in decoder_export.METHODS:
        known = " or ".join(decoder_export.METHODS)
        raise UsageError(f"unknown methods {request.methods!r}; known: {known}")
    config = families.read(source.config)
    context = context_length(request.context_length, config.max_context)
    prefill = min(request.max_prefill_tokens, context)
    if request.attention == "fused" or any(v.delegate.own for v in wanted):
        nearside.command()  # Fails now where it is missing, not after an hour's export.
    target = package_path(source, request, out)
    refuse_dropping(target, [v.name for v in wanted])

    def make(variant: Wanted, folder: Path, work: Work) -> Variant:
        name, what = variant.name, f"{target.name} {variant.name}"
        own = work.part(name)
        lowered, facts = work.program(
            name, lambda: lower(source, variant, request, config, context, prefill, what, own)
        )
        data = data_files.write(folder, lowered)
        measured = None
        if name not in reasons:
            with stage(what, "measure"):
                files = [folder / d.path for d in data]
                # fp32 is compared with itself; other schemes with plain attention, which is older.
                attention = request.attention if variant.scheme == "fp32" else "plain"
                measured = generate_quality.measure(
                    weights.load(config, source.tensors, context, attention),
                    lowered,
                    source.tokenizer,
                    prefill,
                    GATES[variant.scheme],
                    files,
                )

                def estimate(other: Wanted, options: Request) -> GenerateQuality:
                    return estimate_quality(source, other, options, prefill)

                with advised(
                    variant.scheme,
                    lambda: generate_advice.passing(
                        variant, request, estimate, loops=bool(measured.looping)
                    ),
                ):
                    language_quality.check_gate(name, measured)
        with stage(what, "write"):
            facts = {"attention": request.attention, **facts, "unmeasured": reasons.get(name)}
            return variants.write(folder, name, lowered, measured, command, data, **facts)

    with keeping.work(_options(request, context, prefill)) as work, staged_folder(target) as folder:
        exported = [make(variant, folder, work) for variant in wanted]
        file, template = text_files.write(folder, source.tokenizer)
        facts = text_files.generation(source.tokenizer, config, context, prefill)
        manifest = Manifest(
            name=package_name(source, request),
            licence=licence,
            source=source.origin,
            task=Generate(file, facts, template),
            variants=data_files.measured_again(folder, exported),
        )
        write_manifest(folder, manifest)
    return target


def lower(
    source: ModelSource,
    variant: Wanted,
    request: Request,
    config: DecoderConfig,
    context: int,
    prefill: int,
    what: str,
    work: Work,
) -> tuple[LoweredProgram, dict[str, Any]]:
    """Load, quantise, export and lower; the program, and what the manifest says of how."""
    with stage(what, "load"):
        model: AnyDecoder = weights.load(config, source.tensors, context, request.attention)
    facts: dict[str, Any] = {"quantisation": "none", "embedding_bits": 32}
    if variant.scheme in decoder.SCHEMES:
        with stage(what, "quantise"):
            model, facts = quantise(model, source, request, variant, work)
    with stage(what, "export"):
        methods = decoder_export.export_methods(model, prefill, request.methods)
    with stage(what, "lower"):
        constants = decoder_export.constants(config, source.tokenizer, context, prefill)
        lowered = blame.lowering(
            methods,
            lambda: lowering.lower_methods(
                methods,
                variant,
                constants,
                method=next(iter(methods)),
                weights_outside=request.external_weights,
            ),
        )
        return lowered, facts


def _options(request: Request, context: int, prefill: int) -> dict[str, Any]:
    """Tell what a kept result depends on; name and licence are in the manifest only."""
    options = dataclasses.asdict(request) | {"context_length": context}
    options["max_prefill_tokens"] = prefill
    return {"task": "generate"} | {k: v for k, v in options.items() if k not in ("licence", "name")}


def package_path(source: ModelSource, request: Request, out: Path) -> Path:
    """Where the package goes; fp32 alone gets a name of its own, as for other tasks."""
    schemes = [v.scheme for v in read(request.variants, "generate")]
    return package.package_path(out, package_name(source, request), schemes)


def package_name(source: ModelSource, request: Request) -> str:
    """Name of the model, as a file name on every system."""
    return clean_name(request.name or source.name)


def estimate_quality(
    source: ModelSource, variant: Wanted, request: Request, max_prefill_tokens: int
) -> GenerateQuality:
    """Compare what ``variant`` makes of the weights with fp32 in eager PyTorch; lower nothing."""
    config = families.read(source.config)
    context = context_length(request.context_length, config.max_context)
    reference = weights.load(config, source.tensors, context)
    model: AnyDecoder = weights.load(config, source.tensors, context)
    if variant.scheme in decoder.SCHEMES:
        model, _ = quantise(model, source, request, variant)
    gate = GATES[variant.scheme]
    return generate_quality.estimate(reference, model, source.tokenizer, max_prefill_tokens, gate)


def quantise(
    model: Decoder,
    source: ModelSource,
    request: Request,
    variant: Wanted,
    work: Work = NO_WORK,
) -> tuple[AnyDecoder, dict[str, Any]]:
    """Quantise ``model``, and say how for the manifest.

    It is changed in place, or another one is made of it where the operators are ours.
    """
    scheme = decoder.SCHEMES[variant.scheme]
    choices: dict[str, Any] = {
        "group_size": request.group_size,
        "rounding": request.rounding,
        "embedding_bits": request.embedding_bits,
        "work": work,
    }
    made: AnyDecoder = model
    given = (model, scheme, source.tensors, source.tokenizer)
    if variant.delegate.own:
        made, facts = decoder_facts.quantise_packed(*given, kv_cache=request.cache, **choices)
    else:
        facts = decoder_facts.quantise(*given, **choices)
    return made, {"quantisation": scheme.name, **facts}
