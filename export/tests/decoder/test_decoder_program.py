"""Exported programs, as ExecuTorch runs them, against transformers' models."""

from __future__ import annotations

import itertools
from pathlib import Path

import decoder_models as models
import numpy as np
import pytest
from executorch.exir._serialize._program import deserialize_pte_binary
from transformers import PreTrainedModel

from nearside_export.architectures.decoder import export
from nearside_export.lower import xnnpack
from nearside_export.lower.program import LoweredProgram
from nearside_export.runtime import RunnableMethod, nearside
from nearside_export.runtime.wheel import LoadedMethod

MAX_PREFILL = 8
ENDS = [5, 6, 14, 22, 30, *range(31, 36), 43, 44, 50, 58, *range(59, 65)]
CALLS = list(itertools.pairwise([0, *ENDS]))
"""64 positions. Sliding layers keep 13 or 14 of them: they go round more than four times."""


def lower(reference: PreTrainedModel, attention: str) -> LoweredProgram:
    decoder = models.ours(reference, attention)
    return xnnpack.lower_methods({"forward": export.export(decoder, MAX_PREFILL)})


def state_bytes(lowered: LoweredProgram) -> int:
    """Of the arena of what stays between calls."""
    (plan,) = deserialize_pte_binary(lowered.pte).program.execution_plan
    return plan.non_const_buffer_sizes[2]


def check(method: RunnableMethod, reference: PreTrainedModel) -> None:
    tokens = models.text(models.CONTEXT)
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

    decoder = models.ours(reference)
    whole = sum(buffer.nbytes for name, buffer in decoder.named_buffers() if ".cache." in name)
    export.keep_what_is_seen(decoder, MAX_PREFILL)
    kept = sum(buffer.nbytes for name, buffer in decoder.named_buffers() if ".cache." in name)
    assert kept < 0.7 * whole
    assert kept <= state_bytes(lowered) < kept + 1024

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
