"""Quality figures in words, one function a task."""

from __future__ import annotations

from nearside_export.manifest import (
    ClassifyQuality,
    DescribeQuality,
    EmbedQuality,
    GenerateQuality,
    Quality,
    Variant,
)


def variant_figures(variant: Variant) -> str:
    """Say how near a variant is to eager fp32, or why nobody knows."""
    if variant.quality is None:
        return f"quality not measured: {variant.unmeasured}"
    return figures(variant.quality)


def figures(q: Quality) -> str:
    """Say how near a variant of any task is to eager fp32."""
    match q:
        case ClassifyQuality():
            return classify_figures(q)
        case EmbedQuality():
            return embed_figures(q)
        case GenerateQuality():
            return generate_figures(q)
        case DescribeQuality():
            return describe_figures(q)
    return str(q)


def classify_figures(q: ClassifyQuality) -> str:
    """Say how near a classifier is to eager fp32."""
    return (
        f"top-1 agreement {q.top1_agreement:.4f} on {q.images} pictures, "
        f"logit RMSE {q.logit_rmse:.4f}, SQNR {q.logit_sqnr_db:.2f} dB"
    )


def embed_figures(q: EmbedQuality) -> str:
    """Say how near a text encoder is to eager fp32."""
    return (
        f"NDCG@10 {q.ndcg_at_10:.4f} (fp32 {q.ndcg_at_10_fp32:.4f}), Spearman {q.spearman:.4f} "
        f"(fp32 {q.spearman_fp32:.4f}) on {q.documents} documents, cosine to fp32 "
        f"{q.cosine_min:.4f} at least, {q.cosine_mean:.4f} on average"
    )


def generate_figures(q: GenerateQuality) -> str:
    """Say how near a language model is to eager fp32."""
    return (
        f"perplexity {q.perplexity:.4f} (fp32 {q.perplexity_fp32:.4f}) on {q.tokens} tokens, "
        f"next-token agreement {q.next_token_agreement:.4f}, KL {q.kl_divergence:.2e}, "
        f"largest logit difference {q.logit_max_error:.2e}"
        + ("" if q.looping is None else f", {q.looping} of {q.prompts} answers loop")
    )


def describe_figures(q: DescribeQuality) -> str:
    """Say how near a model that sees and writes is to eager fp32."""
    return (
        f"largest logit difference {q.logit_max_error:.2e} on {q.tokens} tokens and {q.images} "
        f"pictures, of an image embedding {q.embedding_max_error:.2e}, "
        f"next-token agreement {q.next_token_agreement:.4f}"
        + ("" if q.kl_divergence is None else f", KL {q.kl_divergence:.2e}")
    )
