"""How far an exported language model is from eager fp32: every next token of a held-out text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from nearside_export.errors import QualityError
from nearside_export.manifest import GenerateGate, GenerateQuality
from nearside_export.runtime import RunnableMethod

Logits = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float32]]
"""Tokens ``[1, S]`` and positions ``[S]`` to the logits of the last one, ``[vocab]``."""

DIGITS = 6


def logits(methods: Sequence[RunnableMethod]) -> Logits:
    """Several tokens by the first of ``methods``, single ones by the last, as apps call them."""

    def run(ids: NDArray[np.int64], positions: NDArray[np.int64]) -> NDArray[np.float32]:
        method = methods[0 if len(positions) > 1 else -1]
        return method.run([ids, positions])[0][0, -1]

    return run


def predictions(model: Logits, tokens: list[int], chunk: int) -> torch.Tensor:
    """Logits f64 ``[n, vocab]`` after the tokens at `ends`, as a decode loop meets them."""
    rows, start = [], 0
    for end in ends(len(tokens), chunk):
        ids = np.asarray([tokens[start:end]], dtype=np.int64)
        rows.append(model(ids, np.arange(start, end, dtype=np.int64)))
        start = end
    return torch.from_numpy(np.stack(rows)).double()


def ends(length: int, chunk: int) -> list[int]:
    """Where the calls on a text of ``length`` tokens end.

    The first half is prefilled in calls of ``chunk`` tokens, of which only the last has logits;
    the rest follows token by token.
    """
    half = length // 2
    return [*range(chunk, half + 1, chunk), *range(half // chunk * chunk + 1, length + 1)]


def divergence(expected: torch.Tensor, found: torch.Tensor) -> float:
    """Sum of KL(expected || found) over rows of log probabilities f64 ``[n, vocab]``, nats."""
    return float((expected.exp() * (expected - found)).sum())


class Comparison:
    """Sums up how two models predict the same texts."""

    def __init__(self) -> None:
        self._rows = self._predicted = self._agreed = 0
        self._divergence = self._logs = self._logs_fp32 = self._error = 0.0

    def add(self, want: torch.Tensor, got: torch.Tensor, following: list[int]) -> None:
        """Add the logits f64 ``[n, vocab]`` of fp32 and of a variant after the tokens of a text.

        ``following`` are the tokens after each row but the last. `QualityError` when a logit is not
        finite.
        """
        if not bool(torch.isfinite(want).all() and torch.isfinite(got).all()):
            raise QualityError("a logit is NaN or infinite: the model or its export is broken")
        ids = torch.tensor(following)[:, None]
        expected, found = want.log_softmax(-1), got.log_softmax(-1)
        self._rows += len(want)
        self._predicted += len(following)
        self._agreed += int((want.argmax(-1) == got.argmax(-1)).sum())
        self._divergence += divergence(expected, found)
        self._logs_fp32 += float(expected[:-1].gather(1, ids).sum())
        self._logs += float(found[:-1].gather(1, ids).sum())
        self._error = max(self._error, float((want - got).abs().max()))

    def quality(self, gate: GenerateGate) -> GenerateQuality:
        """Give the figures of all that was added."""
        return GenerateQuality(
            tokens=self._rows,
            perplexity=round(math.exp(-self._logs / self._predicted), DIGITS),
            perplexity_fp32=round(math.exp(-self._logs_fp32 / self._predicted), DIGITS),
            next_token_agreement=round(self._agreed / self._rows, 4),
            kl_divergence=round(max(self._divergence / self._rows, 0.0), 9),
            logit_max_error=round(self._error, 7),
            gate=gate,
        )


def problems(quality: GenerateQuality) -> list[str]:
    """Say which figures are beyond their gate; empty when none is."""
    gate, found = quality.gate, []
    if gate.perplexity_ratio is not None:
        ratio = quality.perplexity / quality.perplexity_fp32
        if ratio > gate.perplexity_ratio:
            found.append(f"perplexity is {ratio:.4f} times fp32's, at most {gate.perplexity_ratio}")
    if gate.logit_max_error is not None and quality.logit_max_error > gate.logit_max_error:
        found.append(
            f"a logit is {quality.logit_max_error:.2e} off, at most {gate.logit_max_error:.0e}"
        )
    if gate.kl_divergence is not None and quality.kl_divergence > gate.kl_divergence:
        found.append(
            f"predictions are {quality.kl_divergence:.3f} nats from fp32's (KL), at most "
            f"{gate.kl_divergence}"
        )
    if gate.looping is not None and (quality.looping or 0) > gate.looping:
        found.append(
            f"{quality.looping} of {quality.prompts} answers end in a loop where fp32's do not, at "
            f"most {gate.looping}"
        )
    return found


def check_gate(variant: str, quality: GenerateQuality) -> None:
    """`QualityError` when a figure is beyond its gate."""
    if found := problems(quality):
        raise QualityError(
            f"variant {variant} is below its quality gate: {'; '.join(found)} (on "
            f"{quality.tokens} tokens of held-out text). Nothing was written"
        )
