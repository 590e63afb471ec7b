from __future__ import annotations

import numpy as np
import pytest

from nearside_export.errors import QualityError
from nearside_export.manifest import ClassifyGate
from nearside_export.quality import Array, check_gate, measure

GATE = ClassifyGate(top1_agreement=0.9)


def inputs(count: int) -> list[Array]:
    rng = np.random.default_rng(3)
    return [rng.normal(size=(1, 5)).astype(np.float32) for _ in range(count)]


def test_the_same_classifier_agrees_fully() -> None:
    quality = measure(lambda x: x, lambda x: x, inputs(60), GATE)
    assert (quality.images, quality.top1_agreement, quality.logit_rmse) == (60, 1.0, 0.0)


def test_figures_are_those_of_their_definitions() -> None:
    batch = inputs(80)
    quality = measure(lambda x: x, lambda x: x + np.float32(0.1), batch, GATE)
    power = float(np.mean(np.concatenate(batch).astype(np.float64) ** 2))
    assert quality.logit_rmse == pytest.approx(0.1, abs=1e-4)
    assert quality.logit_sqnr_db == pytest.approx(10 * np.log10(power / 0.01), abs=1e-3)


def test_agreement_is_the_share_of_equal_best_classes() -> None:
    batch = inputs(50)
    wrong = {id(x) for x in batch[:5]}
    quality = measure(lambda x: x, lambda x: -x if id(x) in wrong else x, batch, GATE)
    assert quality.top1_agreement == 0.9
    check_gate("some", quality)


def test_a_variant_below_its_gate_fails_with_both_numbers() -> None:
    quality = measure(lambda x: x, lambda x: -x, inputs(50), GATE)
    with pytest.raises(QualityError, match=r"xnnpack-int8.* 0\.0000 on 50 .* asks for 0\.9000"):
        check_gate("xnnpack-int8", quality)


def test_fewer_than_fifty_pictures_are_not_a_measurement() -> None:
    with pytest.raises(QualityError, match="at least 50"):
        measure(lambda x: x, lambda x: x, inputs(49), GATE)


def test_a_program_that_returns_nan_is_refused() -> None:
    with pytest.raises(QualityError, match="NaN"):
        measure(lambda x: x, lambda x: x * np.float32("nan"), inputs(50), GATE)
