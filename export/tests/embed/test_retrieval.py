"""NDCG and Spearman are what their definitions say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import ndcg_score

from nearside_export.data import retrieval
from nearside_export.errors import QualityError
from nearside_export.manifest import EmbedGate
from nearside_export.retrieval_quality import check_gate, compare, ndcg, spearman

GATE = EmbedGate(0.005)


def embeddings(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(50, 16)).astype(np.float32)


def test_the_corpus_is_whole() -> None:
    judged = retrieval.judgements()
    assert len(retrieval.documents()) == 50
    assert judged.shape == (50, 50)
    assert (judged == judged.T).all()
    assert (judged.min(), judged.max()) == (0.2, 1.0)


def test_the_judgements_own_order_is_perfect() -> None:
    judged = retrieval.judgements()
    assert ndcg(judged, judged) == pytest.approx(1.0)
    assert spearman(judged, judged) == pytest.approx(1.0)
    assert spearman(-judged, judged) == pytest.approx(-1.0)
    assert ndcg(-judged, judged) < 0.5


def test_ndcg_is_that_of_scikit_learn() -> None:
    judged = retrieval.judgements()
    found = embeddings(1) @ embeddings(1).T
    others = ~np.eye(50, dtype=bool)
    want = ndcg_score(judged[others].reshape(50, 49), found[others].reshape(50, 49), k=10)
    assert ndcg(found, judged) == pytest.approx(want, abs=1e-9)


def test_spearman_is_that_of_scipy_with_ties() -> None:
    judged = retrieval.judgements()
    found = np.round(embeddings(2) @ embeddings(2).T)
    pairs = np.triu_indices(50, 1)
    want = spearmanr(found[pairs], judged[pairs]).statistic
    assert spearman(found, judged) == pytest.approx(want, abs=1e-12)


def test_the_same_embeddings_are_as_good_whatever_their_lengths() -> None:
    fp32 = embeddings(3)
    quality = compare(fp32, fp32 * np.float32(3.0), retrieval.judgements(), GATE)
    assert quality.ndcg_at_10 == quality.ndcg_at_10_fp32
    assert quality.spearman == quality.spearman_fp32
    assert (quality.documents, quality.cosine_min, quality.cosine_mean) == (50, 1.0, 1.0)
    check_gate("xnnpack-int8", quality)


def test_embeddings_that_find_less_are_below_the_gate() -> None:
    judged = retrieval.judgements()
    # The judgements' own factors find what people found; noise does not.
    values, vectors = np.linalg.eigh(judged)
    good = (vectors * np.sqrt(np.maximum(values, 0.0))).astype(np.float32)
    noise = np.random.default_rng(4).normal(size=good.shape).astype(np.float32)
    quality = compare(good, noise, judged, GATE)
    assert quality.ndcg_at_10 < quality.ndcg_at_10_fp32 - 0.1
    with pytest.raises(QualityError, match=r"xnnpack-int8 is below.*the gate allows 0\.0050 less"):
        check_gate("xnnpack-int8", quality)


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0])
def test_embeddings_that_are_none_are_refused(value: float) -> None:
    broken = embeddings(5)
    broken[3] = value
    with pytest.raises(QualityError, match="zero, NaN or infinite"):
        compare(embeddings(5), broken, retrieval.judgements(), GATE)
