"""Figures of language models on predictions whose answers can be worked out."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nearside_export import language_quality
from nearside_export.errors import QualityError
from nearside_export.manifest import GenerateGate


def test_calls_follow_a_decode_loop() -> None:
    calls = []

    def model(ids: np.ndarray, positions: np.ndarray) -> np.ndarray:
        calls.append((ids[0].tolist(), positions.tolist()))
        return np.zeros(4, dtype=np.float32)

    tokens = list(range(100, 111))
    rows = language_quality.predictions(model, tokens, chunk=2)
    assert [len(ids) for ids, _ in calls] == [2, 2, 1, 1, 1, 1, 1, 1, 1]
    assert [t for ids, _ in calls for t in ids] == tokens
    assert [p for _, positions in calls for p in positions] == list(range(11))
    assert language_quality.ends(11, chunk=2) == [2, 4, 5, 6, 7, 8, 9, 10, 11]
    assert len(rows) == 9


def test_figures() -> None:
    want = torch.zeros(3, 4, dtype=torch.float64)
    got = want.clone()
    got[0, 1] = float(np.log(3.0))  # token 1 of row 0 three times as likely: 3/6
    comparison = language_quality.Comparison()
    comparison.add(want, got, [1, 2])
    quality = comparison.quality(GenerateGate())
    assert quality.tokens == 3
    assert quality.perplexity_fp32 == pytest.approx(4.0)
    assert quality.perplexity == pytest.approx(np.sqrt(2 * 4), abs=1e-6)
    assert quality.next_token_agreement == pytest.approx(2 / 3, abs=1e-4)
    divergence = (0.25 * (3 * np.log(6 / 4) + np.log(2 / 4))) / 3
    assert quality.kl_divergence == pytest.approx(divergence, abs=1e-8)
    assert quality.logit_max_error == pytest.approx(np.log(3.0), abs=1e-6)


def test_what_is_beyond_the_gate_fails() -> None:
    want = torch.zeros(2, 4, dtype=torch.float64)
    got = want.clone()
    got[0, 1] -= 1.0
    gate = GenerateGate(perplexity_ratio=1.1, logit_max_error=0.5)
    comparison = language_quality.Comparison()
    comparison.add(want, got, [1])
    quality = comparison.quality(gate)
    with pytest.raises(
        QualityError, match=r"perplexity is 2\.\d+ times .*a logit is 1\.00e\+00 off"
    ):
        language_quality.check_gate("xnnpack-fp32", quality)
    got[0, 1] = torch.nan
    with pytest.raises(QualityError, match="NaN or infinite"):
        language_quality.Comparison().add(want, got, [1])
