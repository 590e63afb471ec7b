"""How well embeddings find what people judged to be similar, and how near they are to fp32's."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nearside_export.errors import QualityError
from nearside_export.manifest import EmbedGate, EmbedQuality

Embeddings = NDArray[np.float32]
"""f32 ``[documents, dimensions]``."""

RANKS = 10
DIGITS = 4
"""Decimals that figures are rounded to in the manifest."""


def compare(
    fp32: Embeddings, embeddings: Embeddings, judgements: NDArray[np.float64], gate: EmbedGate
) -> EmbedQuality:
    """Measure ``embeddings`` beside eager fp32's; ``judgements`` f64 ``[documents, documents]``.

    `QualityError` when a value is not finite or an embedding is zero.
    """
    cosines = np.sum(_normalised(fp32) * _normalised(embeddings), axis=1)
    similarities = [_similarities(e) for e in (embeddings, fp32)]
    figures = [(ndcg(s, judgements), spearman(s, judgements)) for s in similarities]
    (found_ndcg, found_spearman), (fp32_ndcg, fp32_spearman) = figures
    return EmbedQuality(
        documents=len(embeddings),
        ndcg_at_10=round(found_ndcg, DIGITS),
        ndcg_at_10_fp32=round(fp32_ndcg, DIGITS),
        spearman=round(found_spearman, DIGITS),
        spearman_fp32=round(fp32_spearman, DIGITS),
        cosine_min=round(float(cosines.min()), DIGITS),
        cosine_mean=round(float(cosines.mean()), DIGITS),
        gate=gate,
    )


def check_gate(variant: str, quality: EmbedQuality) -> None:
    """`QualityError` when NDCG@10 is further below that of fp32 than the gate allows."""
    drop = quality.ndcg_at_10_fp32 - quality.ndcg_at_10
    if drop > quality.gate.ndcg_at_10_drop + 1e-9:
        raise QualityError(
            f"variant {variant} is below its quality gate: NDCG@10 is {quality.ndcg_at_10:.4f} on "
            f"{quality.documents} documents, eager fp32 has {quality.ndcg_at_10_fp32:.4f}, and the "
            f"gate allows {quality.gate.ndcg_at_10_drop:.4f} less (cosine to fp32 at least "
            f"{quality.cosine_min:.4f}). Nothing was written"
        )


def ndcg(similarities: NDArray[np.float64], judgements: NDArray[np.float64]) -> float:
    """NDCG@10 with the judgements as gains, each document in turn the query among the others.

    The gain of rank r (from 1) counts 1 / log2(r + 1); the sum is divided by the best order's.
    """
    count = len(similarities)
    ranks = min(RANKS, count - 1)
    discounts = 1.0 / np.log2(np.arange(ranks) + 2.0)
    values = []
    for query in range(count):
        others = np.arange(count) != query
        gains = judgements[query, others]
        # Stable, so that documents that are equally near keep their order on every machine.
        order = np.argsort(-similarities[query, others], kind="stable")[:ranks]
        best = np.sort(gains)[::-1][:ranks]
        values.append(np.sum(gains[order] * discounts) / np.sum(best * discounts))
    return float(np.mean(values))


def spearman(similarities: NDArray[np.float64], judgements: NDArray[np.float64]) -> float:
    """Rank correlation over all pairs of documents; equal values share their mean rank."""
    pairs = np.triu_indices(len(similarities), 1)
    ranks = [_mean_ranks(values[pairs]) for values in (similarities, judgements)]
    return float(np.corrcoef(*ranks)[0, 1])


def _mean_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    _, group, size = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(size)
    return (last - (size - 1) / 2.0)[group]


def _similarities(embeddings: Embeddings) -> NDArray[np.float64]:
    normalised = _normalised(embeddings)
    return normalised @ normalised.T


def _normalised(embeddings: Embeddings) -> NDArray[np.float64]:
    exact = embeddings.astype(np.float64)
    lengths = np.linalg.norm(exact, axis=1, keepdims=True)
    if not np.isfinite(exact).all() or (lengths == 0.0).any():
        raise QualityError("an embedding is zero, NaN or infinite: model or export is broken")
    return exact / lengths
