"""Task ``generate``: language models to packages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from nearside_export import language_quality
from nearside_export.architectures.decoder import export as decoder_export
from nearside_export.architectures.decoder import families, weights
from nearside_export.architectures.decoder.attention import KINDS
from nearside_export.architectures.decoder.config import DecoderConfig
from nearside_export.architectures.decoder.model import Decoder
from nearside_export.data.text import HELD_OUT
from nearside_export.errors import UsageError
from nearside_export.lower import xnnpack
from nearside_export.lower.program import LoweredProgram
from nearside_export.manifest import (
    FileRef,
    Generate,
    GenerateGate,
    GenerateQuality,
    GenerationDefaults,
    GenerationFacts,
    Manifest,
    Variant,
)
from nearside_export.package import (
    SUFFIX,
    file_ref,
    refuse_dropping,
    staged_folder,
    write_manifest,
)
from nearside_export.progress import say
from nearside_export.runtime import RunnableMethod, nearside, wheel
from nearside_export.sources.model import ModelSource, Tokenizer
from nearside_export.versions import installed

GATES = {"fp32": GenerateGate(logit_max_error=1e-3)}
"""``--variant`` to its quality gate."""

TOKENIZER_FILE = "tokenizer.json"
TEMPLATE_FILE = "chat_template.jinja"
DEFAULT_CONTEXT = 1024
DEFAULT_MAX_PREFILL = 128
MAX_QUALITY_TOKENS = 256


@dataclass(frozen=True)
class Request:
    """What to export: ``context_length`` positions, ``max_prefill_tokens`` a call at most.

    ``attention`` is ``plain`` or ``fused``; ``licence`` and ``name`` override the source's.
    """

    variant: str = "fp32"
    context_length: int | None = None
    max_prefill_tokens: int = DEFAULT_MAX_PREFILL
    attention: str = "plain"
    licence: str | None = None
    name: str | None = None


def export_package(source: ModelSource, request: Request, out: Path, command: str) -> Path:
    """Export ``source`` into a package folder inside ``out``; return the folder.

    `SourceError` and `UnsupportedError` say what of the model can't be exported, `QualityError`
    that the program is below its gate. The package is written whole or not at all.
    """
    licence = request.licence or source.licence
    if licence is None:
        raise UsageError(f"{source.origin} states no licence: give it with --licence (SPDX)")
    if request.variant not in GATES:
        raise UsageError(f"unknown variant {request.variant!r}; known: {', '.join(GATES)}")
    if request.attention not in KINDS:
        raise UsageError(f"unknown attention {request.attention!r}; known: {', '.join(KINDS)}")
    config = families.read(source.config)
    context = context_length(request, config)
    prefill = min(request.max_prefill_tokens, context)
    variant = f"xnnpack-{request.variant}"
    if request.attention == "fused":
        nearside.command()  # Fails now where it is missing, not after an hour's export.
    target = package_path(source, request, out)
    refuse_dropping(target, {variant})
    with staged_folder(target) as folder:
        say(f"{target.name} {variant}: loading weights")
        model = weights.load(config, source.tensors, context, request.attention)
        say(f"{target.name} {variant}: exporting")
        program = decoder_export.export(model, prefill)
        say(f"{target.name} {variant}: lowering")
        constants = decoder_export.constants(config, source.tokenizer, context, prefill)
        lowered = xnnpack.lower_methods({"forward": program}, constants)
        say(f"{target.name} {variant}: measuring quality")
        gate = GATES[request.variant]
        measured = measure_quality(model, lowered, source.tokenizer, prefill, gate)
        language_quality.check_gate(variant, measured)
        (folder / f"{variant}.pte").write_bytes(lowered.pte)
        manifest = Manifest(
            name=package_name(source, request),
            licence=licence,
            source=source.origin,
            task=_task(folder, source.tokenizer, config, context, prefill),
            variants=[
                Variant(
                    name=variant,
                    program=file_ref(folder, f"{variant}.pte"),
                    method=lowered.method,
                    executorch=installed("executorch"),
                    torch=installed("torch"),
                    torchao=installed("torchao"),
                    quantisation="none",
                    delegates=lowered.delegates,
                    operators=lowered.operators,
                    coverage=round(lowered.coverage, 4),
                    planned_bytes=lowered.planned_bytes,
                    quality=measured,
                    export_command=command,
                    embedding_bits=32,
                    attention=request.attention,
                )
            ],
        )
        write_manifest(folder, manifest)
    return target


def context_length(request: Request, config: DecoderConfig) -> int:
    """Positions in the cache: as asked for, or `DEFAULT_CONTEXT` where the model has as many."""
    if request.context_length is None:
        return min(DEFAULT_CONTEXT, config.max_context)
    if request.context_length > config.max_context:
        raise UsageError(
            f"--context {request.context_length} is more than the {config.max_context} positions "
            "that the model was made for"
        )
    return request.context_length


def package_path(source: ModelSource, request: Request, out: Path) -> Path:
    """Where the package goes; fp32 gets a name of its own, as for other tasks."""
    suffix = "-fp32" if request.variant == "fp32" else ""
    return out / f"{package_name(source, request)}{suffix}{SUFFIX}"


def package_name(source: ModelSource, request: Request) -> str:
    """Name of the model, as a file name on every system."""
    name = request.name or source.name
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "model"


def measure_quality(
    reference: Decoder,
    lowered: LoweredProgram,
    tokenizer: Tokenizer,
    max_prefill_tokens: int,
    gate: GenerateGate,
) -> GenerateQuality:
    """Compare the program, as it runs, with ``reference`` on held-out text."""
    tokens = _held_out(tokenizer, reference.context_length)
    chunk = min(max_prefill_tokens, max(1, len(tokens) // 4))

    def eager(ids: NDArray[np.int64], positions: NDArray[np.int64]) -> NDArray[np.float32]:
        with torch.no_grad():
            return reference(torch.from_numpy(ids), torch.from_numpy(positions))[0, 0].numpy()

    reference.reset()
    want = language_quality.predictions(eager, tokens, chunk)
    with running(lowered) as method:

        def program(ids: NDArray[np.int64], positions: NDArray[np.int64]) -> NDArray[np.float32]:
            return method.run([ids, positions])[0][0, 0]

        got = language_quality.predictions(program, tokens, chunk)
    return language_quality.compare(want, got, language_quality.targets(tokens, chunk), gate)


@contextmanager
def running(lowered: LoweredProgram) -> Iterator[RunnableMethod]:
    """Load a program: by the wheel's runtime, or by ours where it calls operators of ours.

    `ExportError` where it needs the command ``nearside``, and there is none.
    """
    if not any(name.startswith("nearside::") for name in lowered.operators):
        yield wheel.LoadedMethod(lowered.pte, lowered.method)
        return
    with nearside.Program(lowered.pte) as program:
        yield program.method(lowered.method)


def _held_out(tokenizer: Tokenizer, context: int) -> list[int]:
    from tokenizers import Tokenizer as Loaded

    ids = Loaded.from_str(tokenizer.json).encode(HELD_OUT).ids
    if tokenizer.add_bos and tokenizer.bos_id is not None and ids[:1] != [tokenizer.bos_id]:
        ids = [tokenizer.bos_id, *ids]
    return ids[: min(context, MAX_QUALITY_TOKENS)]


def _task(
    folder: Path, tokenizer: Tokenizer, config: DecoderConfig, context: int, prefill: int
) -> Generate:
    (folder / TOKENIZER_FILE).write_text(tokenizer.json, encoding="utf-8")
    template: FileRef | None = None
    if tokenizer.chat_template:
        (folder / TEMPLATE_FILE).write_text(tokenizer.chat_template, encoding="utf-8")
        template = file_ref(folder, TEMPLATE_FILE)
    return Generate(
        tokenizer=file_ref(folder, TOKENIZER_FILE),
        chat_template=template,
        generation=GenerationFacts(
            context_length=context,
            max_prefill_tokens=prefill,
            vocab_size=config.vocab_size,
            bos_id=tokenizer.bos_id,
            eos_ids=list(tokenizer.eos_ids),
            add_bos=tokenizer.add_bos,
            sliding_window=config.sliding_window,
            defaults=GenerationDefaults(**tokenizer.defaults),
        ),
    )
