"""How far an exported program is from eager fp32, and whether that is near enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from nearside_export.errors import QualityError
from nearside_export.manifest import ClassifyGate, ClassifyQuality

Array = NDArray[np.float32]
Classifier = Callable[[Array], Array]
"""Model input f32 ``[1, …]`` to logits f32 ``[1, classes]``."""

MIN_IMAGES = 50
DIGITS = 4
"""Decimals that figures are rounded to in the manifest."""


def measure(
    reference: Classifier, candidate: Classifier, inputs: Iterable[Array], gate: ClassifyGate
) -> ClassifyQuality:
    """Run both classifiers on every input and compare their logits.

    `QualityError` when fewer than `MIN_IMAGES` inputs are given or a logit is not finite.
    """
    pairs = [(reference(x), candidate(x)) for x in inputs]
    if len(pairs) < MIN_IMAGES:
        raise QualityError(
            f"quality needs at least {MIN_IMAGES} evaluation pictures, got {len(pairs)}"
        )
    want, got = (np.concatenate(logits) for logits in zip(*pairs, strict=True))
    return compare(want, got, gate)


def compare(reference: Array, candidate: Array, gate: ClassifyGate) -> ClassifyQuality:
    """Compare logits f32 ``[pictures, classes]``; `QualityError` when one is not finite."""
    want, got = reference.astype(np.float64), candidate.astype(np.float64)
    if not (np.isfinite(want).all() and np.isfinite(got).all()):
        raise QualityError("a logit is NaN or infinite: the model or its export is broken")
    error = float(np.mean((want - got) ** 2))
    signal = float(np.mean(want**2))
    return ClassifyQuality(
        images=len(want),
        top1_agreement=round(float(np.mean(want.argmax(1) == got.argmax(1))), DIGITS),
        logit_rmse=round(math.sqrt(error), DIGITS),
        # A program equal to eager to the last bit has no noise: report the f32 ceiling.
        logit_sqnr_db=round(10 * math.log10(signal / max(error, signal * 1e-15)), DIGITS),
        gate=gate,
    )


def check_gate(variant: str, quality: ClassifyQuality) -> None:
    """`QualityError` when the measured agreement is below the gate."""
    if quality.top1_agreement < quality.gate.top1_agreement:
        raise QualityError(
            f"variant {variant} is below its quality gate: top-1 agreement with eager fp32 is "
            f"{quality.top1_agreement:.4f} on {quality.images} pictures, the gate asks for "
            f"{quality.gate.top1_agreement:.4f} (logit RMSE {quality.logit_rmse:.4f}, "
            f"SQNR {quality.logit_sqnr_db:.1f} dB). Nothing was written"
        )
