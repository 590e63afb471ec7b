"""Quality figures in words, one function a task."""

from __future__ import annotations

from nearside_export.manifest import ClassifyQuality, GenerateQuality


def classify_figures(q: ClassifyQuality) -> str:
    """Say how near a classifier is to eager fp32."""
    return (
        f"top-1 agreement {q.top1_agreement:.4f} on {q.images} pictures, "
        f"logit RMSE {q.logit_rmse:.4f}, SQNR {q.logit_sqnr_db:.2f} dB"
    )


def generate_figures(q: GenerateQuality) -> str:
    """Say how near a language model is to eager fp32."""
    return (
        f"perplexity {q.perplexity:.4f} (fp32 {q.perplexity_fp32:.4f}) on {q.tokens} tokens, "
        f"next-token agreement {q.next_token_agreement:.4f}, KL {q.kl_divergence:.2e}, "
        f"largest logit difference {q.logit_max_error:.2e}"
    )
