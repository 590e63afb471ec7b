"""Exported programs, as ExecuTorch runs them, against transformers' models."""

from __future__ import annotations

from pathlib import Path

import decoder_models as models
import numpy as np
import pytest
from transformers import PreTrainedModel

from nearside_export.architectures.decoder import export
from nearside_export.lower import xnnpack
from nearside_export.lower.program import LoweredProgram
from nearside_export.runtime import RunnableMethod, nearside
from nearside_export.runtime.wheel import LoadedMethod

MAX_PREFILL = 16
CALLS = [(0, 13), (13, 14), (14, 30), *((i, i + 1) for i in range(30, 36))]


def lower(reference: PreTrainedModel, attention: str) -> LoweredProgram:
    decoder = models.ours(reference, attention)
    return xnnpack.lower_methods({"forward": export.export(decoder, MAX_PREFILL)})


def check(method: RunnableMethod, reference: PreTrainedModel) -> None:
    tokens = models.text(36)
    want = models.want(reference, tokens).numpy()
    for start, end in CALLS:
        ids = np.ascontiguousarray(tokens.numpy()[:, start:end])
        (got,) = method.run([ids, np.arange(start, end)])
        np.testing.assert_allclose(got[0, 0], want[end - 1], atol=1e-4, rtol=0)


@pytest.mark.parametrize(
    "case",
    [
        "qwen3, sliding after one layer, biases",
        "gemma3, scaled rope, capped logits",
    ],
)
def test_a_program_answers_as_transformers(case: str) -> None:
    reference = models.CASES[case]()
    lowered = lower(reference, "plain")
    check(LoadedMethod(lowered.pte, "forward"), reference)

    # The caches are written in place, and nothing cuts a layer's delegate apart.
    assert "aten::index_put_" in lowered.operators
    cut = {"aten::view_copy.out", "aten::mean.out", "aten::permute_copy.out", "aten::bmm.out"}
    assert not cut & set(lowered.operators)
    assert lowered.coverage > 0.85


def test_a_program_with_fused_attention_answers_as_transformers(nearside_cli: Path) -> None:
    reference = models.CASES["gemma3, scaled rope, capped logits"]()
    lowered = lower(reference, "fused")
    assert "nearside::attention.out" in lowered.operators
    assert "aten::index_put_" not in lowered.operators
    with nearside.Program(lowered.pte, cli=nearside_cli) as program:
        check(program.method("forward"), reference)
