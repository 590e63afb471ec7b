"""Task ``embed``: text encoders to packages."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch.export import Dim, ExportedProgram

from nearside_export import package, retrieval_quality
from nearside_export.architectures.encoder import load
from nearside_export.data import retrieval
from nearside_export.errors import QualityError
from nearside_export.lower import blame, lowering
from nearside_export.lower.program import LoweredProgram
from nearside_export.manifest import (
    Embed,
    EmbeddingFacts,
    EmbedGate,
    EmbedQuality,
    Manifest,
    Variant,
)
from nearside_export.package import (
    clean_name,
    file_ref,
    licence_of,
    refuse_dropping,
    staged_folder,
    write_manifest,
)
from nearside_export.plan import embed as plan
from nearside_export.progress import stage, track
from nearside_export.quantise import embedding_table, none, pt2e_dynamic_int8
from nearside_export.resume.work import NOTHING_KEPT, Keeping, Work
from nearside_export.retrieval_quality import Embeddings
from nearside_export.runtime.wheel import LoadedMethod
from nearside_export.sources.sentence_transformers import EmbedderSource
from nearside_export.tasks import data_files, preflight, text_files, variants
from nearside_export.tasks.advice import FP32, advised
from nearside_export.wanted import Wanted, read

SCHEMES = {"int8": pt2e_dynamic_int8.NAME, "fp32": none.NAME, "fp16": "fp16"}
"""``--variant`` to the quantisation that the manifest names."""

GATES = {
    "int8": EmbedGate(ndcg_at_10_drop=0.005),
    "fp16": EmbedGate(ndcg_at_10_drop=0.005),
    "fp32": EmbedGate(ndcg_at_10_drop=0.0005),
}

TABLE_GROUP = 32
"""Columns that share a scale in a table of 4 bits; one of 8 bits has a scale a row."""

_TABLE = "encoder.embedding"


@dataclass(frozen=True)
class Request:
    """What to export: ``variants`` by name (see `wanted.read`).

    ``embedding_bits`` of the table beside int8 layers, 8 or 4; ``licence``, ``name`` and
    ``max_tokens`` override the source's. ``external_weights``: all of them in a ``.ptd`` file that
    the variants share. ``unmeasured`` allows variants that don't run here.
    """

    variants: tuple[str, ...] = ("int8",)
    embedding_bits: int = 8
    max_tokens: int | None = None
    external_weights: bool = False
    unmeasured: bool = False
    licence: str | None = None
    name: str | None = None


@dataclass(frozen=True)
class Reference:
    """Documents as token ids i64 ``[1, S]`` each, and their embeddings in eager fp32."""

    tokens: list[torch.Tensor]
    embeddings: Embeddings


def export_package(
    source: EmbedderSource,
    request: Request,
    out: Path,
    command: str,
    keeping: Keeping = NOTHING_KEPT,
) -> Path:
    """Export ``source`` into a package folder inside ``out``; return the folder.

    `SourceError` and `UnsupportedError` say what of the model can't be exported, `QualityError`
    that a program is below its gate. The package is written whole or not at all.
    """
    licence = licence_of(source.origin, request.licence, source.licence)
    wanted = read(request.variants, "embed")
    reasons = preflight.check(
        wanted, external_weights=request.external_weights, unmeasured=request.unmeasured
    )
    max_tokens = plan.max_tokens(source, request.max_tokens)
    target = package_path(source, request, out)
    refuse_dropping(target, [variant_name(v, request) for v in wanted])
    options = {
        "task": "embed",
        "bits": request.embedding_bits,
        "max_tokens": max_tokens,
        "external_weights": request.external_weights,
    }

    def make(variant: Wanted, reference: Reference, folder: Path, work: Work) -> Variant:
        name = variant_name(variant, request)
        lowered, _ = work.program(name, lambda: (lower(source, variant, request, max_tokens), {}))
        data = data_files.write(folder, lowered)
        measured = None
        if variant.name not in reasons:
            with stage(name, "measure"):
                gate = GATES[variant.scheme]
                file = folder / data[0].path if data else None
                measured = measure_quality(lowered.pte, lowered.method, reference, gate, file)
                with advised(
                    variant.scheme,
                    lambda: passing(source, variant, request, max_tokens, reference),
                ):
                    retrieval_quality.check_gate(name, measured)
        with stage(name, "write"):
            return variants.write(
                folder,
                name,
                lowered,
                measured,
                command,
                data,
                quantisation=SCHEMES[variant.scheme],
                embedding_bits=_table_bits(variant, request),
                unmeasured=reasons.get(variant.name),
            )

    with keeping.work(options) as work, staged_folder(target) as folder:
        (folder / text_files.TOKENIZER).write_text(source.tokenizer, encoding="utf-8")
        with stage(f"{target.name} eager fp32", "measure"):
            reference = measure_reference(source, max_tokens)
        exported = [make(variant, reference, folder, work) for variant in wanted]
        facts = EmbeddingFacts(
            dimensions=reference.embeddings.shape[1],
            pooling=source.pooling,
            normalize=source.normalize,
            max_tokens=max_tokens,
        )
        task = Embed(file_ref(folder, text_files.TOKENIZER), facts)
        name = package_name(source, request)
        exported = data_files.measured_again(folder, exported)
        write_manifest(folder, Manifest(name, licence, source.origin, task, exported))
    return target


def package_name(source: EmbedderSource, request: Request) -> str:
    """Name of the model, as a file name on every system."""
    return clean_name(request.name or source.name)


def package_path(source: EmbedderSource, request: Request, out: Path) -> Path:
    """Where the package goes; fp32 alone gets a name of its own, as for other tasks."""
    schemes = [v.scheme for v in read(request.variants, "embed")]
    return package.package_path(out, package_name(source, request), schemes)


def variant_name(variant: Wanted, request: Request) -> str:
    """Delegate, scheme, and the table's bits where they differ from the layers'."""
    return f"{variant.name}{'-table4' if _table_bits(variant, request) == 4 else ''}"


def _table_bits(variant: Wanted, request: Request) -> int:
    return {"int8": request.embedding_bits, "fp16": 16}.get(variant.scheme, 32)


def lower(
    source: EmbedderSource, variant: Wanted, request: Request, max_tokens: int
) -> LoweredProgram:
    """Load, quantise, export and lower: i64 ``[1, 1..max_tokens]`` tokens."""
    what = variant_name(variant, request)
    program = exported(source, variant, request, max_tokens)
    with stage(what, "lower"):
        return blame.lowering(
            {"forward": program},
            lambda: lowering.lower(program, variant, weights_outside=request.external_weights),
        )


def exported(
    source: EmbedderSource, variant: Wanted, request: Request, max_tokens: int
) -> ExportedProgram:
    """Load, quantise and export: i64 ``[1, 1..max_tokens]`` tokens."""
    what = variant_name(variant, request)
    with stage(what, "load"):
        model, config = load.embedder(source, max_tokens)
    example = (load.example(config, max_tokens),)
    shapes = ({1: Dim("tokens", min=1, max=max_tokens)},)
    if variant.scheme == "int8":
        # PT2E quantises what is exported already: one stage.
        with stage(what, "quantise"):
            group = TABLE_GROUP if request.embedding_bits == 4 else None
            embedding_table.replace(model, _TABLE, request.embedding_bits, group)
            return pt2e_dynamic_int8.export(model, example, shapes)
    with stage(what, "export"):
        return torch.export.export(model, example, dynamic_shapes=shapes)


def measure_reference(source: EmbedderSource, max_tokens: int) -> Reference:
    """Embed the evaluation documents in eager fp32."""
    model, _ = load.embedder(source, max_tokens)
    tokens = tokenise(source.tokenizer, retrieval.documents(), max_tokens)
    with torch.no_grad():
        shown = track(tokens, len(tokens), "eager fp32, documents")
        return Reference(tokens, np.concatenate([model(t).numpy() for t in shown]))


def measure_quality(
    pte: bytes, method: str, reference: Reference, gate: EmbedGate, data: Path | None = None
) -> EmbedQuality:
    """Compare a program, as ExecuTorch runs it, with eager fp32 on the evaluation documents.

    ``data`` is the program's ``.ptd`` file, if it has one.
    """
    loaded = LoadedMethod(pte, method, data)
    return _compare(lambda tokens: loaded.run([tokens.numpy()])[0], reference, gate)


def passing(
    source: EmbedderSource,
    variant: Wanted,
    request: Request,
    max_tokens: int,
    reference: Reference,
) -> str:
    """Name what passes the gate where ``variant`` does not, estimated in eager PyTorch."""
    if _table_bits(variant, request) != 4:
        return FP32
    other = dataclasses.replace(request, embedding_bits=8)
    model = exported(source, variant, other, max_tokens).module()
    with torch.no_grad():
        quality = _compare(lambda t: model(t).numpy(), reference, GATES[variant.scheme])
    try:
        retrieval_quality.check_gate("8 bits", quality)
    except QualityError:
        return FP32
    return f"--embedding-bits 8 (NDCG@10 {quality.ndcg_at_10:.4f}, estimated), or {FP32}"


def _compare(
    embed: Callable[[torch.Tensor], Embeddings], reference: Reference, gate: EmbedGate
) -> EmbedQuality:
    shown = track(reference.tokens, len(reference.tokens), "measuring, documents")
    found = np.concatenate([embed(tokens) for tokens in shown])
    return retrieval_quality.compare(reference.embeddings, found, retrieval.judgements(), gate)


def tokenise(tokenizer: str, texts: list[str], max_tokens: int) -> list[torch.Tensor]:
    """Token ids i64 ``[1, S]`` of each text, special tokens included, cut to ``max_tokens``."""
    from tokenizers import Tokenizer

    loaded = Tokenizer.from_str(tokenizer)
    loaded.enable_truncation(max_tokens)
    return [torch.tensor([loaded.encode(text).ids]) for text in texts]
