"""Measure an ``embed`` package again: against eager fp32, made anew from the weights."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nearside_export.errors import PackageError
from nearside_export.manifest import Embed, EmbedQuality, Manifest
from nearside_export.sources import known, sentence_transformers
from nearside_export.sources.sentence_transformers import EmbedderSource
from nearside_export.tasks import embed
from nearside_export.tasks.tolerance import Comparison, Tolerance, measured_variants

TOLERANCES = {
    "documents": Tolerance(),
    "ndcg_at_10": Tolerance(absolute=0.002),
    "ndcg_at_10_fp32": Tolerance(absolute=0.002),
    "spearman": Tolerance(absolute=0.002),
    "spearman_fp32": Tolerance(absolute=0.002),
    "cosine_min": Tolerance(absolute=0.0005),
    "cosine_mean": Tolerance(absolute=0.0005),
}
"""int8 kernels of different CPUs may round a value differently, and two near documents swap."""


def verify(
    package: Path, manifest: Manifest, task: Embed, folder: Path | None
) -> Iterator[Comparison[EmbedQuality]]:
    """Measure every variant of ``package``, whose files have been checked, again.

    ``folder`` holds the fp32 model; it may be left out for models that are known by name.
    `PackageError` when tokenizer or facts differ from the model's.
    """
    source = _source(package, manifest, folder)
    if (package / task.tokenizer.path).read_text(encoding="utf-8") != source.tokenizer:
        raise PackageError(f"{package}: {task.tokenizer.path} differs from the model's tokenizer")
    facts = task.embedding
    if (facts.pooling, facts.normalize) != (source.pooling, source.normalize):
        raise PackageError(
            f"{package}: pooling {facts.pooling!r} with normalize {facts.normalize} differs from "
            f"the model's: {source.pooling!r} with {source.normalize}"
        )
    reference = embed.measure_reference(source, facts.max_tokens)
    if reference.embeddings.shape[1] != facts.dimensions:
        raise PackageError(
            f"{package}: {facts.dimensions} dimensions, the model has "
            f"{reference.embeddings.shape[1]}"
        )
    for variant, claimed in measured_variants(manifest, EmbedQuality):
        pte = (package / variant.program.path).read_bytes()
        data = package / variant.external_data[0].path if variant.external_data else None
        measured = embed.measure_quality(pte, variant.method, reference, claimed.gate, data)
        yield Comparison(variant.name, claimed, measured, TOLERANCES)


def _source(package: Path, manifest: Manifest, folder: Path | None) -> EmbedderSource:
    if folder is not None:
        return sentence_transformers.open_folder(folder)
    if manifest.name in known.EMBEDDERS:
        return known.embedder(manifest.name)
    raise PackageError(
        f"{package} holds {manifest.name!r}, whose fp32 model this exporter does not know: give "
        f"its folder with --source; known: {', '.join(known.EMBEDDERS)}"
    )
