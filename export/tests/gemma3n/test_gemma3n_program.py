"""Gemma 3n's text decoder as ExecuTorch runs it, layer by layer beside transformers."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import torch
from gemma3n_reference import Reference, build
from layer_trace import WithLayerOutputs, first_difference
from torch.export import Dim

from nearside_export.architectures.decoder.cache import keep_what_is_seen
from nearside_export.architectures.gemma3n.model import Gemma3n
from nearside_export.lower import xnnpack
from nearside_export.lower.program import LoweredProgram
from nearside_export.runtime import nearside
from nearside_export.runtime.wheel import LoadedMethod

MOST_ROWS = 5
ENDS = (5, 10, 14, 15, 16, 21, 22, 27, *range(28, 36), 40)
CALLS = tuple(itertools.pairwise((0, *ENDS)))
"""Chunks and tokens. The rings of the sliding layers have 11 slots: they go round three times."""


@pytest.fixture(scope="module")
def reference() -> Reference:
    return build()


def lower(model: Gemma3n, module: torch.nn.Module) -> LoweredProgram:
    """Lower ``module``, the text decoder of ``model``, for calls of at most `MOST_ROWS` rows."""
    keep_what_is_seen(model, MOST_ROWS)
    rows = Dim("rows", min=1, max=MOST_ROWS)
    config = model.config
    example = (
        torch.zeros(1, 4, config.hidden_size),
        torch.arange(4),
        torch.arange(4),
        torch.zeros(1, 4, len(config.layers) * config.per_layer_size),
    )
    shapes = ({1: rows}, {0: rows}, {0: rows}, {1: rows})
    with torch.no_grad():
        exported = torch.export.export(
            module,
            example,
            dynamic_shapes=shapes if module is model.text_decoder else (shapes,),
            strict=False,
        )
    return xnnpack.lower_methods({"forward": exported})


def inputs(model: Gemma3n, ids: torch.Tensor, start: int, end: int) -> list[np.ndarray]:
    with torch.no_grad():
        embeds = model.token_embedding(ids[:, start:end])
        table = model.per_layer_embedding(ids[:, start:end])
    positions = np.arange(start, end)
    return [embeds.numpy(), positions, positions, table.numpy()]


def test_every_layer_of_the_program_equals_transformers(reference: Reference) -> None:
    model = reference.ours()
    traced = WithLayerOutputs(model.text_decoder)
    method = LoadedMethod(lower(model, traced).pte, "forward")
    order = traced.trace.order
    for start, end in CALLS:
        outputs = method.run(inputs(model, reference.ids, start, end))
        logits, *outputs = (torch.from_numpy(o) for o in outputs)
        got = dict(zip(order, outputs, strict=True))
        want = {key: rows[start:end] for key, rows in reference.layers.items()}
        assert first_difference(want, got, 1e-4) is None
        assert got[4, ""].shape[0] == 1, "layers that share keys and values see the last row only"
        torch.testing.assert_close(logits[0, 0], reference.logits[end - 1], atol=1e-4, rtol=0)


def test_fused_attention_equals_transformers(reference: Reference, nearside_cli: Path) -> None:
    """The layers that share keys and values write the last row of another layer's cache again."""
    model = reference.ours("fused")
    lowered = lower(model, model.text_decoder)
    assert "nearside::attention.out" in lowered.operators
    with nearside.Program(lowered.pte, cli=nearside_cli) as program:
        method = program.method("forward")
        for start, end in CALLS:
            (logits,) = method.run(inputs(model, reference.ids, start, end))
            want = reference.logits[end - 1].numpy()
            np.testing.assert_allclose(logits[0, 0], want, atol=1e-4, rtol=0)
