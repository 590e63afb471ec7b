"""Task ``describe``: models that see and write, to packages."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch.fx import Node

from nearside_export import describe_quality
from nearside_export.architectures.decoder import export as decoder_export
from nearside_export.architectures.decoder.attention import KINDS
from nearside_export.architectures.decoder.config import DecoderConfig
from nearside_export.architectures.multimodal import export as multimodal_export
from nearside_export.architectures.multimodal import families, gemma3, loading
from nearside_export.architectures.multimodal.loading import StateDict
from nearside_export.architectures.multimodal.model import TEXT_DECODER, Multimodal
from nearside_export.data import sets
from nearside_export.data.text import HELD_OUT
from nearside_export.describe_quality import Prompt
from nearside_export.errors import UnsupportedError, UsageError
from nearside_export.image_spec import ImageSpec
from nearside_export.lower import blame, lowering
from nearside_export.lower.program import LoweredProgram
from nearside_export.manifest import (
    Describe,
    DescribeGate,
    DescribeQuality,
    Manifest,
    Variant,
    VisionFacts,
)
from nearside_export.package import (
    clean_name,
    licence_of,
    package_path,
    refuse_dropping,
    staged_folder,
    write_manifest,
)
from nearside_export.plan import describe as plan
from nearside_export.plan.decoder import context_length
from nearside_export.preprocess import preprocess
from nearside_export.progress import say, stage
from nearside_export.quantise import decoder, pictures_and_text
from nearside_export.resume.work import NO_WORK, NOTHING_KEPT, Keeping, Work
from nearside_export.runtime import nearside
from nearside_export.sources import huggingface, image_processor
from nearside_export.sources.fields import Fields
from nearside_export.sources.model import Tokenizer
from nearside_export.tasks import data_files, decoder_facts, preflight, text_files, variants
from nearside_export.tasks.advice import FP32, advised
from nearside_export.tasks.running import running
from nearside_export.wanted import Wanted, read

GATES = {
    "fp32": DescribeGate(logit_max_error=1e-3),
    "int8": DescribeGate(kl_divergence=0.05),
    "8da4w": DescribeGate(kl_divergence=0.2),
}
"""``--variant`` to its quality gate."""

DEFAULT_MAX_PREFILL = 128
PER_LAYER_FILE = "per_layer_embedding"
"""The ``.ptd`` file of Gemma 3n's per-layer embeddings."""

TEXT_TOKENS = 24
"""Tokens before and after the image, each, with which quality is measured."""

IMAGES = 3


@dataclass(frozen=True)
class Request:
    """What to export: ``variants`` by name (see `wanted.read`).

    ``context_length`` positions, ``max_prefill_tokens`` a call at most: null is as many as an
    image and some text need. ``group_size``, ``rounding`` and ``embedding_bits`` are the text
    decoder's, as in `generate`. ``licence`` and ``name`` override the source's.
    ``external_weights``: all of them in ``.ptd`` files that the variants share. ``unmeasured``
    allows variants that don't run here.
    """

    variants: tuple[str, ...] = ("fp32",)
    group_size: int = 32
    rounding: str = "auto"
    embedding_bits: int = 8
    context_length: int | None = None
    max_prefill_tokens: int | None = None
    attention: str = "plain"
    external_weights: bool = False
    unmeasured: bool = False
    licence: str | None = None
    name: str | None = None


def export_package(
    folder: Path, request: Request, out: Path, command: str, keeping: Keeping = NOTHING_KEPT
) -> Path:
    """Export the Hugging Face folder ``folder`` as a package inside ``out``; return the package.

    `SourceError` and `UnsupportedError` say what of the model can't be exported, `QualityError`
    that the program is below its gate. The package is written whole or not at all.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder: `describe` takes a local Hugging Face folder")
    licence = licence_of(folder.name, request.licence, huggingface.licence(folder))
    wanted = read(request.variants, "describe")
    reasons = preflight.check(
        wanted, external_weights=request.external_weights, unmeasured=request.unmeasured
    )
    if request.attention not in KINDS:
        raise UsageError(f"unknown attention {request.attention!r}; known: {', '.join(KINDS)}")
    if request.attention == "fused":
        nearside.command()  # Fails now where it is missing, not after an hour's export.
    config = Fields.read(folder / huggingface.CONFIG)
    loader = families.loader(config)
    plan.check_variants(config, wanted)
    tokenizer = huggingface.read_tokenizer(folder, config)
    spec = image_processor.read(folder)
    name = clean_name(request.name or folder.resolve().name)
    target = package_path(out, name, [v.scheme for v in wanted])
    refuse_dropping(target, [v.name for v in wanted])
    options = {
        "task": "describe",
        "group_size": request.group_size,
        "rounding": request.rounding,
        "embedding_bits": request.embedding_bits,
        "context": request.context_length,
        "max_prefill": request.max_prefill_tokens,
        "attention": request.attention,
        "external_weights": request.external_weights,
    }
    context = context_length(request.context_length, plan.most_positions(config))
    what = f"{target.name} eager fp32"
    with keeping.work(options) as work, staged_folder(target) as staging:
        with stage(what, "load"), loading.faults_of(folder):
            model = loader(folder, config, context, request.attention)
        longest = longest_call(request, model, context)
        _check_image(model, spec)
        for note in model.notes:
            say(f"{target.name}: {note}")
        prompts = evaluation_prompts(model.vision, spec, tokenizer, context)

        def make(variant: Wanted) -> Variant:
            name, what = variant.name, f"{target.name} {variant.name}"

            def lower() -> tuple[LoweredProgram, dict[str, Any]]:
                made, facts = model, {"quantisation": "none", "embedding_bits": 32}
                if variant.scheme in decoder.SCHEMES:
                    with stage(what, "quantise"):
                        made, facts = quantised(
                            model, variant.scheme, tokenizer, context, request, work.part(name)
                        )
                sizes = (spec, tokenizer, context, longest)
                return _lower(made, variant, *sizes, what, request.external_weights), facts

            lowered, facts = work.program(name, lower)
            data = data_files.write(staging, lowered)
            measured = None
            if name not in reasons:
                with stage(what, "measure"):
                    files, gate = [staging / d.path for d in data], GATES[variant.scheme]
                    measured = measure_quality(model, lowered, files, prompts, longest, gate)
                    with advised(variant.scheme, lambda: FP32):
                        describe_quality.check_gate(name, measured)
            with stage(what, "write"):
                return variants.write(
                    staging,
                    name,
                    lowered,
                    measured,
                    command,
                    data,
                    **facts,
                    attention=request.attention,
                    unmeasured=reasons.get(name),
                )

        exported = [make(variant) for variant in wanted]
        file, template = text_files.write(staging, tokenizer)
        facts = text_files.generation(tokenizer, model.text, context, longest)
        manifest = Manifest(
            name=name,
            licence=licence,
            source=f"Hugging Face folder {folder.resolve().name}",
            task=Describe(file, facts, spec, model.vision, template),
            variants=data_files.measured_again(staging, exported),
        )
        write_manifest(staging, manifest)
    return target


def quantised(
    model: Multimodal,
    scheme: str,
    tokenizer: Tokenizer,
    context: int,
    request: Request,
    work: Work = NO_WORK,
) -> tuple[Multimodal, dict[str, Any]]:
    """Make a Gemma 3 of ``model``'s weights in integers, and say how for the manifest.

    ``model`` and its reference stay as they are.
    """
    assert isinstance(model.text, DecoderConfig)
    made = gemma3.assemble(model.reference, model.text, context, request.attention)
    text = made.methods[TEXT_DECODER]
    assert isinstance(text, gemma3.TextDecoder)
    facts = decoder_facts.quantise(
        text.decoder,
        decoder.SCHEMES[scheme],
        StateDict(model.reference),
        tokenizer,
        group_size=request.group_size,
        rounding=request.rounding,
        embedding_bits=request.embedding_bits,
        work=work,
    )
    pictures_and_text.take_table(made)
    pictures_and_text.apply_to_eyes(made)
    return made, {"quantisation": decoder.SCHEMES[scheme].name, **facts}


def longest_call(request: Request, model: Multimodal, context: int) -> int:
    """Rows a call at most, of ``context`` positions; `UsageError` where an image does not fit."""
    tokens = model.vision.tokens_per_image
    if context < tokens + 4:
        raise UsageError(f"--context {context} leaves no room for text: an image takes {tokens}")
    longest = request.max_prefill_tokens or max(DEFAULT_MAX_PREFILL, tokens)
    if model.vision.bidirectional and longest < tokens:
        raise UsageError(
            f"--max-prefill {longest} is less than an image's {tokens} tokens, which see each "
            "other and must come in one call"
        )
    return min(longest, context)


def measure_quality(
    model: Multimodal,
    lowered: LoweredProgram,
    data: Sequence[Path],
    prompts: list[tuple[Prompt, NDArray[np.float32]]],
    longest: int,
    gate: DescribeGate,
) -> DescribeQuality:
    """Compare the program, as it runs, with transformers on ``prompts``.

    ``data`` are its ``.ptd`` files.
    """
    with running(lowered, list(model.methods), data) as methods:
        program = describe_quality.Program.of_methods(methods, model.vision.bidirectional)
        return describe_quality.measure(model, program, prompts, longest, gate)


def evaluation_prompts(
    vision: VisionFacts, spec: ImageSpec, tokenizer: Tokenizer, context: int
) -> list[tuple[Prompt, NDArray[np.float32]]]:
    """Give `IMAGES` prompts that quality is measured with, each with its picture's pixels."""
    pictures = itertools.islice(sets.evaluation(), IMAGES)
    return [
        (_prompt(vision, tokenizer, context, i), preprocess(picture, spec))
        for i, picture in enumerate(pictures)
    ]


def _lower(
    model: Multimodal,
    variant: Wanted,
    spec: ImageSpec,
    tokenizer: Tokenizer,
    context: int,
    longest: int,
    what: str,
    external_weights: bool,
) -> LoweredProgram:
    with stage(what, "export"):
        programs = multimodal_export.export(model, spec.width, spec.height, longest)
    with stage(what, "lower"):
        constants = decoder_export.constants(model.text, tokenizer, context, longest)
        return blame.lowering(
            programs,
            lambda: lowering.lower_methods(
                programs,
                variant,
                constants,
                method=TEXT_DECODER,
                external=_per_layer_table,
                weights_outside=external_weights,
            ),
        )


def _per_layer_table(node: Node) -> str | None:
    # Most of the model, of which a call reads a few rows: mapped, not resident.
    return PER_LAYER_FILE if "per_layer_table" in node.name else None


def _check_image(model: Multimodal, spec: ImageSpec) -> None:
    if model.image_size is not None and (spec.width, spec.height) != (model.image_size,) * 2:
        raise UnsupportedError(
            f"{image_processor.FILE} makes pictures of {spec.width} x {spec.height}, but the image "
            f"tower takes {model.image_size} x {model.image_size}. The files belong to different "
            "models"
        )


def _prompt(vision: VisionFacts, tokenizer: Tokenizer, context: int, number: int) -> Prompt:
    """Put an image between two pieces of text, other ones for each ``number``."""
    from tokenizers import Tokenizer as Loaded

    text = Loaded.from_str(tokenizer.json).encode(HELD_OUT, add_special_tokens=False).ids
    room = min(TEXT_TOKENS, (context - vision.tokens_per_image - 3) // 2)
    text = text[number * TEXT_TOKENS :]
    before = [] if tokenizer.bos_id is None else [tokenizer.bos_id]
    # Of different lengths, so that images begin in different places of a window.
    before += text[: max(0, room - 3 * number)]
    if vision.begin_image_id is not None:
        before.append(vision.begin_image_id)
    after = [] if vision.end_image_id is None else [vision.end_image_id]
    after += text[room : 2 * room]
    last = len(before) + vision.tokens_per_image
    ids = [*before, *[vision.image_token_id] * vision.tokens_per_image, *after]
    return Prompt(ids[:context], len(before), last)
