"""How far an exported language model is from eager fp32: every next token of a held-out text."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from nearside_export.errors import QualityError
from nearside_export.manifest import GenerateGate, GenerateQuality

Logits = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float32]]
"""Tokens ``[1, S]`` and positions ``[S]`` to the logits of the last one, ``[vocab]``."""

DIGITS = 6


def predictions(model: Logits, tokens: list[int], chunk: int) -> torch.Tensor:
    """Logits f64 ``[n, vocab]`` after the tokens of a text, as a decode loop meets them.

    The first half is prefilled in calls of ``chunk`` tokens, of which only the last has logits;
    the second half follows token by token.
    """
    half = len(tokens) // 2
    ends = [*range(chunk, half + 1, chunk), *range(half // chunk * chunk + 1, len(tokens) + 1)]
    rows, start = [], 0
    for end in ends:
        ids = np.asarray([tokens[start:end]], dtype=np.int64)
        rows.append(model(ids, np.arange(start, end, dtype=np.int64)))
        start = end
    return torch.from_numpy(np.stack(rows)).double()


def targets(tokens: list[int], chunk: int) -> list[int]:
    """Token that follows each row of `predictions`, but the last."""
    half = len(tokens) // 2
    ends = [*range(chunk, half + 1, chunk), *range(half // chunk * chunk + 1, len(tokens) + 1)]
    return [tokens[end] for end in ends[:-1]]


def compare(
    want: torch.Tensor, got: torch.Tensor, following: list[int], gate: GenerateGate
) -> GenerateQuality:
    """Compare two `predictions` of one text; `QualityError` when a logit is not finite."""
    if not bool(torch.isfinite(want).all() and torch.isfinite(got).all()):
        raise QualityError("a logit is NaN or infinite: the model or its export is broken")
    ids = torch.tensor(following)
    expected, found = want.log_softmax(-1), got.log_softmax(-1)
    divergence = (expected.exp() * (expected - found)).sum(-1).mean()

    def perplexity(logs: torch.Tensor) -> float:
        return math.exp(-float(logs[:-1].gather(1, ids[:, None]).mean()))

    return GenerateQuality(
        tokens=len(want),
        perplexity=round(perplexity(found), DIGITS),
        perplexity_fp32=round(perplexity(expected), DIGITS),
        next_token_agreement=round(float((want.argmax(-1) == got.argmax(-1)).double().mean()), 4),
        kl_divergence=round(max(float(divergence), 0.0), 9),
        logit_max_error=round(float((want - got).abs().max()), 7),
        gate=gate,
    )


def check_gate(variant: str, quality: GenerateQuality) -> None:
    """`QualityError` when a figure is beyond its gate."""
    gate, problems = quality.gate, []
    if gate.perplexity_ratio is not None:
        ratio = quality.perplexity / quality.perplexity_fp32
        if ratio > gate.perplexity_ratio:
            problems.append(
                f"perplexity is {ratio:.4f} times fp32's, at most {gate.perplexity_ratio}"
            )
    if gate.logit_max_error is not None and quality.logit_max_error > gate.logit_max_error:
        problems.append(
            f"a logit is {quality.logit_max_error:.2e} off, at most {gate.logit_max_error:.0e}"
        )
    if problems:
        raise QualityError(
            f"variant {variant} is below its quality gate: {'; '.join(problems)} (on "
            f"{quality.tokens} tokens of held-out text). Nothing was written"
        )
