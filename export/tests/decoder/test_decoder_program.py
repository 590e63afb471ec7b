"""Exported programs, as ExecuTorch runs them, against transformers' models."""

from __future__ import annotations

import decoder_models as models
import numpy as np
import pytest

from nearside_export.architectures.decoder import export
from nearside_export.lower import xnnpack
from nearside_export.runtime.wheel import LoadedMethod

MAX_PREFILL = 16
CALLS = [(0, 13), (13, 14), (14, 30), *((i, i + 1) for i in range(30, 36))]


@pytest.mark.parametrize(
    "case",
    [
        "qwen3, sliding after one layer, biases",
        "gemma3, scaled rope, capped logits",
    ],
)
def test_a_program_answers_as_transformers(case: str) -> None:
    reference = models.CASES[case]()
    decoder = models.ours(reference)
    lowered = xnnpack.lower_methods({"forward": export.export(decoder, MAX_PREFILL)})
    loaded = LoadedMethod(lowered.pte, "forward")
    tokens = models.text(36)
    want = models.want(reference, tokens).numpy()
    for start, end in CALLS:
        ids = np.ascontiguousarray(tokens.numpy()[:, start:end])
        (got,) = loaded.run([ids, np.arange(start, end)])
        np.testing.assert_allclose(got[0, 0], want[end - 1], atol=1e-4, rtol=0)

    # The caches are written in place, and nothing cuts a layer's delegate apart.
    assert "aten::index_put_" in lowered.operators
    cut = {"aten::view_copy.out", "aten::mean.out", "aten::permute_copy.out", "aten::bmm.out"}
    assert not cut & set(lowered.operators)
    assert lowered.coverage > 0.85
