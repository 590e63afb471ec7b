"""Gemma 3n's text decoder as ExecuTorch runs it, layer by layer beside transformers."""

from __future__ import annotations

import pytest
import torch
from gemma3n_reference import Reference, build
from layer_trace import WithLayerOutputs, first_difference
from torch.export import Dim

from nearside_export.lower import xnnpack
from nearside_export.runtime.wheel import LoadedMethod

CALLS = ((0, 13), (13, 14), (14, 18), (18, 19), (19, 24))
"""A prefill, a token, a chunk, a token, a chunk."""


@pytest.fixture(scope="module")
def reference() -> Reference:
    return build()


@pytest.fixture(scope="module")
def program(reference: Reference) -> tuple[LoadedMethod, list[tuple[int, str]], object]:
    model = reference.ours()
    rows = Dim("rows", min=1, max=16)
    traced = WithLayerOutputs(model.text_decoder)
    config = reference.config
    example = (
        torch.zeros(1, 4, config.hidden_size),
        torch.arange(4),
        torch.arange(4),
        torch.zeros(1, 4, len(config.layers) * config.per_layer_size),
    )
    with torch.no_grad():
        exported = torch.export.export(
            traced,
            example,
            dynamic_shapes=(({1: rows}, {0: rows}, {0: rows}, {1: rows}),),
            strict=False,
        )
    lowered = xnnpack.lower_methods({"forward": exported})
    return LoadedMethod(lowered.pte, "forward"), traced.trace.order, model


def test_every_layer_of_the_program_equals_transformers(
    reference: Reference, program: tuple[LoadedMethod, list[tuple[int, str]], object]
) -> None:
    method, order, model = program
    for start, end in CALLS:
        ids = reference.ids[:, start:end]
        with torch.no_grad():
            embeds, table = model.token_embedding(ids), model.per_layer_embedding(ids)
        positions = torch.arange(start, end)
        inputs = [embeds.numpy(), positions.numpy(), positions.numpy(), table.numpy()]
        logits, *outputs = (torch.from_numpy(o) for o in method.run(inputs))
        got = dict(zip(order, outputs, strict=True))
        want = {key: rows[start:end] for key, rows in reference.layers.items()}
        assert first_difference(want, got, 1e-4) is None
        assert got[4, ""].shape[0] == 1, "layers that share keys and values see the last row only"
        torch.testing.assert_close(logits[0, 0], reference.logits[end - 1], atol=1e-4, rtol=0)
