"""The committed all-MiniLM-L6-v2 does what its manifest claims.

``data/all-minilm-l6-v2-lee-fp32.npy`` holds f32 ``[50, 384]``: the Lee corpus as transformers
embeds it in eager fp32 (mean of the tokens, length 1, cut to 256 tokens).
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import MODELS, ROOT
from jsonschema import Draft202012Validator

from nearside_export import retrieval_quality
from nearside_export.data import retrieval
from nearside_export.manifest import Embed, EmbedQuality, Manifest
from nearside_export.package import check_files
from nearside_export.runtime.wheel import LoadedMethod
from nearside_export.tasks.embed import tokenise

MINILM = MODELS / "all-minilm-l6-v2.nearside"
FP32 = np.load(Path(__file__).parent / "data" / "all-minilm-l6-v2-lee-fp32.npy")


class Embedder:
    """The int8 variant with the package's own tokenizer."""

    def __init__(self) -> None:
        manifest = Manifest.read(MINILM)
        assert isinstance(manifest.task, Embed)
        self.max_tokens = manifest.task.embedding.max_tokens
        self.tokenizer = (MINILM / manifest.task.tokenizer.path).read_text(encoding="utf-8")
        variant = manifest.variant("xnnpack-int8-table4")
        pte = (MINILM / variant.program.path).read_bytes()
        self.method = LoadedMethod(pte, variant.method)

    def __call__(self, texts: list[str]) -> retrieval_quality.Embeddings:
        """f32 ``[texts, 384]``."""
        tokens = tokenise(self.tokenizer, texts, self.max_tokens)
        return np.concatenate([self.method.run([t.numpy()])[0] for t in tokens])


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedder()


def test_the_package_is_whole_and_small() -> None:
    manifest = Manifest.read(MINILM)
    check_files(MINILM, manifest)
    schema = json.loads((ROOT / "docs" / "manifest.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(json.loads(manifest.to_json()))
    assert {p.name for p in MINILM.iterdir()} == {
        "manifest.json",
        *(r.path for r in manifest.files()),
    }
    assert sum(p.stat().st_size for p in MINILM.iterdir()) <= 24_000_000


def test_it_finds_what_people_found_as_well_as_fp32_does(embedder: Embedder) -> None:
    (variant,) = Manifest.read(MINILM).variants
    claimed = variant.quality
    assert isinstance(claimed, EmbedQuality)
    found = retrieval_quality.compare(
        FP32, embedder(retrieval.documents()), retrieval.judgements(), claimed.gate
    )
    assert found.ndcg_at_10_fp32 == claimed.ndcg_at_10_fp32 == 0.8686
    assert found.spearman_fp32 == claimed.spearman_fp32
    assert found.ndcg_at_10 >= found.ndcg_at_10_fp32 - 0.005
    for name in ("ndcg_at_10", "spearman", "cosine_min", "cosine_mean"):
        assert getattr(found, name) == pytest.approx(getattr(claimed, name), abs=0.002), name


def test_sentences_that_mean_the_same_are_nearer_than_those_that_do_not(embedder: Embedder) -> None:
    texts = [
        "A man is eating food.",
        "A man is eating a piece of bread.",
        "Someone is having a meal.",
        "The girl is carrying a baby.",
        "A cheetah is running behind its prey.",
        "The stock market fell sharply on Monday.",
    ]
    found = embedder(texts)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-5)
    similarities = found @ found.T
    assert similarities[0, 1] > 0.6
    assert similarities[0, 2] > 0.5
    assert similarities[0, 3:].max() < 0.3


def test_a_text_longer_than_the_model_takes_is_cut(embedder: Embedder) -> None:
    word = "harbour "
    longest, longer = embedder([word * (embedder.max_tokens - 2), word * 1000])
    np.testing.assert_array_equal(longest, longer)


def test_nothing_but_special_tokens_is_a_text_too(embedder: Embedder) -> None:
    (found,) = embedder([""])
    assert np.linalg.norm(found) == pytest.approx(1.0, abs=1e-5)
