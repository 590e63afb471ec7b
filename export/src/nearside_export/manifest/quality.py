"""What was measured of a variant, as ExecuTorch runs it, against eager fp32 PyTorch.

Each task measures something else. A gate is the lowest quality with which an export succeeds.
"""

from __future__ import annotations

from dataclasses import dataclass

from nearside_export.errors import PackageError


@dataclass(frozen=True)
class ClassifyGate:
    """The least share of pictures with the same best class, 0..1."""

    top1_agreement: float


@dataclass(frozen=True)
class ClassifyQuality:
    """A classifier's scores beside those of eager fp32.

    ``images`` evaluation pictures; ``top1_agreement`` share of them with the same best class,
    0..1; ``logit_rmse`` root mean square of the logit differences over all pictures and classes;
    ``logit_sqnr_db`` = 10 log10(mean square of fp32 logits / mean square of differences).
    """

    images: int
    top1_agreement: float
    logit_rmse: float
    logit_sqnr_db: float
    gate: ClassifyGate


@dataclass(frozen=True)
class EmbedGate:
    """The most that NDCG@10 may be below that of eager fp32."""

    ndcg_at_10_drop: float


@dataclass(frozen=True)
class EmbedQuality:
    """Retrieval among ``documents`` with graded relevance, judged by people.

    ``ndcg_at_10`` 0..1, each document in turn the query; ``spearman`` -1..1, rank correlation of
    all similarities with the judgements; both also of eager fp32. ``cosine_min`` and
    ``cosine_mean`` over the documents, each embedding with its fp32 one.
    """

    documents: int
    ndcg_at_10: float
    ndcg_at_10_fp32: float
    spearman: float
    spearman_fp32: float
    cosine_min: float
    cosine_mean: float
    gate: EmbedGate


@dataclass(frozen=True)
class GenerateGate:
    """The most that perplexity / fp32 perplexity and the figures of the same names may be."""

    perplexity_ratio: float | None = None
    logit_max_error: float | None = None
    looping: int | None = None
    kl_divergence: float | None = None


@dataclass(frozen=True)
class GenerateQuality:
    """Next-token predictions on ``tokens`` tokens of held-out text.

    ``next_token_agreement`` share of positions with the same most likely token, 0..1;
    ``kl_divergence`` mean of KL(fp32 || variant), nats; ``logit_max_error`` the largest
    difference of a logit. Of ``prompts`` plain requests, ``looping`` are answered with the same
    few tokens over and over, where fp32 does not, not even after the word that the two first differ
    in; null where that was not looked at.
    """

    tokens: int
    perplexity: float
    perplexity_fp32: float
    next_token_agreement: float
    kl_divergence: float
    logit_max_error: float
    gate: GenerateGate
    prompts: int | None = None
    looping: int | None = None


@dataclass(frozen=True)
class DescribeGate:
    """The most that a logit or an image embedding's value may differ, and KL may be in nats.

    At least one of them.
    """

    logit_max_error: float | None = None
    kl_divergence: float | None = None

    def __post_init__(self) -> None:
        if self.logit_max_error is None and self.kl_divergence is None:
            raise PackageError(
                "the gate of a describe variant holds it to nothing: it needs logit_max_error or "
                "kl_divergence"
            )


@dataclass(frozen=True)
class DescribeQuality:
    """All methods in turn on ``images`` pictures with ``tokens`` tokens of text in all.

    ``embedding_max_error`` the largest difference of an image embedding's value,
    ``logit_max_error`` of a logit; ``next_token_agreement`` and ``kl_divergence`` as in
    :class:`GenerateQuality`, the latter null in older manifests.
    """

    images: int
    tokens: int
    logit_max_error: float
    embedding_max_error: float
    next_token_agreement: float
    gate: DescribeGate
    kl_divergence: float | None = None


Quality = ClassifyQuality | EmbedQuality | GenerateQuality | DescribeQuality

QUALITIES: dict[str, type[Quality]] = {
    "classify": ClassifyQuality,
    "embed": EmbedQuality,
    "generate": GenerateQuality,
    "describe": DescribeQuality,
}
"""By the task's name."""
