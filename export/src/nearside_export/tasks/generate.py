"""Task ``generate``: language models to packages."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from nearside_export import language_quality, package
from nearside_export.architectures.decoder import export as decoder_export
from nearside_export.architectures.decoder import families, weights
from nearside_export.architectures.decoder.attention import KINDS
from nearside_export.architectures.decoder.config import DecoderConfig
from nearside_export.architectures.decoder.model import Decoder
from nearside_export.data.text import calibration
from nearside_export.errors import UsageError
from nearside_export.lower import blame, xnnpack
from nearside_export.lower.program import LoweredProgram
from nearside_export.manifest import Generate, GenerateQuality, Manifest
from nearside_export.package import (
    clean_name,
    licence_of,
    refuse_dropping,
    staged_folder,
    write_manifest,
)
from nearside_export.plan import generate as plan
from nearside_export.progress import say, stage
from nearside_export.quantise import decoder
from nearside_export.resume.work import NO_WORK, NOTHING_KEPT, Keeping, Work
from nearside_export.runtime import nearside
from nearside_export.sources.model import ModelSource
from nearside_export.tasks import (
    data_files,
    generate_advice,
    generate_quality,
    text_files,
    variants,
)
from nearside_export.tasks.advice import advised
from nearside_export.tasks.generate_quality import GATES, WINDOW

DEFAULT_MAX_PREFILL = 128
FIT_WINDOWS = 16
CHOOSE_WINDOWS = 2


@dataclass(frozen=True)
class Request:
    """What to export: ``context_length`` positions, ``max_prefill_tokens`` a call at most.

    ``attention`` is ``plain`` or ``fused``; ``licence`` and ``name`` override the source's.
    ``methods`` is one of `decoder_export.METHODS`. ``group_size`` and ``rounding`` are of 4-bit
    variants (see `quantise.decoder`).
    ``external_weights``: all of them in a ``.ptd`` file.
    """

    variant: str = "fp32"
    group_size: int = 32
    rounding: str = "auto"
    context_length: int | None = None
    max_prefill_tokens: int = DEFAULT_MAX_PREFILL
    attention: str = "plain"
    methods: str = decoder_export.FORWARD
    external_weights: bool = False
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
    if request.variant not in GATES:
        raise UsageError(f"unknown variant {request.variant!r}; known: {', '.join(GATES)}")
    if request.attention not in KINDS:
        raise UsageError(f"unknown attention {request.attention!r}; known: {', '.join(KINDS)}")
    if request.methods not in decoder_export.METHODS:
        known = " or ".join(decoder_export.METHODS)
        raise UsageError(f"unknown methods {request.methods!r}; known: {known}")
    config = families.read(source.config)
    context = plan.context_length(request.context_length, config)
    prefill = min(request.max_prefill_tokens, context)
    variant = f"xnnpack-{request.variant}"
    if request.attention == "fused":
        nearside.command()  # Fails now where it is missing, not after an hour's export.
    target = package_path(source, request, out)
    refuse_dropping(target, {variant})
    what = f"{target.name} {variant}"
    with keeping.work(_options(request, context, prefill)) as work, staged_folder(target) as folder:
        lowered, facts = work.program(
            variant, lambda: lower(source, request, config, context, prefill, what, work)
        )
        data = data_files.write(folder, lowered)
        with stage(what, "measure"):
            gate = GATES[request.variant]
            files = [folder / d.path for d in data]
            # fp32 is compared with itself; other schemes with plain attention, which is older.
            attention = request.attention if request.variant == "fp32" else "plain"
            reference = weights.load(config, source.tensors, context, attention)
            measured = generate_quality.measure(
                reference, lowered, source.tokenizer, prefill, gate, files
            )
            del reference

            def estimate(other: Request) -> GenerateQuality:
                return estimate_quality(source, other, prefill)

            with advised(lambda: generate_advice.passing(request, estimate)):
                language_quality.check_gate(variant, measured)
        with stage(what, "write"):
            file, template = text_files.write(folder, source.tokenizer)
            facts_of_text = text_files.generation(source.tokenizer, config, context, prefill)
            manifest = Manifest(
                name=package_name(source, request),
                licence=licence,
                source=source.origin,
                task=Generate(file, facts_of_text, template),
                variants=[
                    variants.write(
                        folder,
                        variant,
                        lowered,
                        measured,
                        command,
                        data,
                        attention=request.attention,
                        **facts,
                    )
                ],
            )
            write_manifest(folder, manifest)
    return target


def lower(
    source: ModelSource,
    request: Request,
    config: DecoderConfig,
    context: int,
    prefill: int,
    what: str,
    work: Work,
) -> tuple[LoweredProgram, dict[str, Any]]:
    """Load, quantise, export and lower; the program, and what the manifest says of how."""
    with stage(what, "load"):
        model = weights.load(config, source.tensors, context, request.attention)
    facts: dict[str, Any] = {"quantisation": "none", "embedding_bits": 32}
    if request.variant in decoder.SCHEMES:
        with stage(what, "quantise"):
            scheme = decoder.SCHEMES[request.variant]
            facts = {
                "quantisation": scheme.name,
                **quantise(model, source, request, scheme, work),
            }
    with stage(what, "export"):
        methods = decoder_export.export_methods(model, prefill, request.methods)
    with stage(what, "lower"):
        constants = decoder_export.constants(config, source.tokenizer, context, prefill)
        lowered = blame.lowering(
            methods,
            lambda: xnnpack.lower_methods(
                methods,
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
    """Where the package goes; fp32 gets a name of its own, as for other tasks."""
    return package.package_path(out, package_name(source, request), request.variant == "fp32")


def package_name(source: ModelSource, request: Request) -> str:
    """Name of the model, as a file name on every system."""
    return clean_name(request.name or source.name)


def estimate_quality(
    source: ModelSource, request: Request, max_prefill_tokens: int
) -> GenerateQuality:
    """Compare what ``request`` makes of the weights with fp32 in eager PyTorch; lower nothing."""
    config = families.read(source.config)
    context = plan.context_length(request.context_length, config)
    reference = weights.load(config, source.tensors, context)
    model = weights.load(config, source.tensors, context)
    if request.variant in decoder.SCHEMES:
        quantise(model, source, request, decoder.SCHEMES[request.variant])
    gate = GATES[request.variant]
    return generate_quality.estimate(reference, model, source.tokenizer, max_prefill_tokens, gate)


def quantise(
    model: Decoder,
    source: ModelSource,
    request: Request,
    scheme: decoder.Scheme,
    work: Work = NO_WORK,
) -> dict[str, Any]:
    """Quantise ``model`` in place; return what the manifest says of how."""

    @cache
    def texts() -> decoder.Calibration:
        length = min(WINDOW, model.context_length)
        windows = calibration(source.tokenizer, length, FIT_WINDOWS + CHOOSE_WINDOWS)
        return decoder.Calibration(windows[CHOOSE_WINDOWS:], windows[:CHOOSE_WINDOWS])

    used = decoder.apply(
        model,
        scheme,
        source.tensors,
        group_size=request.group_size,
        rounding=request.rounding,
        texts=texts,
        say=say,
        work=work,
    )
    if scheme.bits == 8:
        return {"embedding_bits": 8}
    return {"embedding_bits": 8, "group_size": request.group_size, "rounding": used}
