"""``prefill`` and ``decode`` in one program, beside ``forward`` alone."""

from __future__ import annotations

from pathlib import Path

import decoder_models as models
import numpy as np
import pytest
from executorch.exir._serialize._program import PTEFile, deserialize_pte_binary

from nearside_export.architectures.decoder import export
from nearside_export.lower import xnnpack
from nearside_export.lower.program import LoweredProgram
from nearside_export.quantise import decoder
from nearside_export.runtime import RunnableMethod, nearside
from nearside_export.runtime.wheel import LoadedMethod

MAX_PREFILL = 8
CALLS = [(0, 8), (8, 9), (9, 10), (10, 15), (15, 16), (16, 17)]
SHAPE = {"hidden_size": 64, "intermediate_size": 64, "num_attention_heads": 4}


def lower(methods: str) -> LoweredProgram:
    reference = models.llama(**SHAPE, num_hidden_layers=1, tie_word_embeddings=True)
    model = models.ours(reference)
    scheme = decoder.SCHEMES["8da4w"]
    calibration = decoder.Calibration(models.text(16), models.text(16))
    decoder.apply(
        model, scheme, models.StateDict({}), rounding="nearest", texts=lambda: calibration
    )
    programs = export.export_methods(model, MAX_PREFILL, methods)
    return xnnpack.lower_methods(programs, method=next(iter(programs)))


@pytest.fixture(scope="module")
def one() -> LoweredProgram:
    return lower(export.FORWARD)


@pytest.fixture(scope="module")
def two() -> LoweredProgram:
    return lower(export.BOTH)


def answers(prefill: RunnableMethod, decode: RunnableMethod) -> list[np.ndarray]:
    tokens = models.text(CALLS[-1][1]).numpy()
    found = []
    for start, end in CALLS:
        method = decode if end - start == 1 else prefill
        ids = np.ascontiguousarray(tokens[:, start:end])
        found.append(method.run([ids, np.arange(start, end)])[0])
    return found


def test_they_answer_as_one_method_does(
    one: LoweredProgram, two: LoweredProgram, nearside_cli: Path
) -> None:
    forward = LoadedMethod(one.pte, "forward")
    want = answers(forward, forward)
    prefill = LoadedMethod(two.pte, "prefill")
    decode = LoadedMethod(two.pte, "decode", beside=prefill)
    np.testing.assert_array_equal(answers(prefill, decode), want)
    # A cache of its own has nothing of the prompt.
    alone = answers(prefill, LoadedMethod(two.pte, "decode"))
    assert np.abs(alone[1] - want[1]).max() > 1e-3
    decode.reset()
    np.testing.assert_array_equal(answers(prefill, decode), want)

    with nearside.Program(one.pte, cli=nearside_cli) as program:
        want = answers(program.method(), program.method())
    share = two.prefill_and_decode
    with nearside.Program(two.pte, share=share, cli=nearside_cli) as program:
        np.testing.assert_array_equal(answers(*map(program.method, share)), want)


def test_weights_are_in_the_file_once(one: LoweredProgram, two: LoweredProgram) -> None:
    def held(lowered: LoweredProgram) -> tuple[list[bytes], list[bytes]]:
        file: PTEFile = deserialize_pte_binary(lowered.pte)
        constants = [buffer.storage for buffer in file.program.constant_buffer]
        return sorted(file.named_data.buffers), sorted(constants)

    (named, constants), (both_named, both_constants) = held(one), held(two)
    assert both_named == named
    assert [c for c in both_constants if len(c) > 64] == [c for c in constants if len(c) > 64]


def test_what_they_share_is_counted_once(one: LoweredProgram, two: LoweredProgram) -> None:
    assert (one.method, two.method, [m.name for m in two.methods]) == (
        "forward",
        "prefill",
        ["prefill", "decode"],
    )
    plans = deserialize_pte_binary(two.pte).program.execution_plan
    (state,) = {plan.non_const_buffer_sizes[2] for plan in plans}
    keys_and_values = 2 * 2 * models.CONTEXT * 16 * 4
    assert state == keys_and_values
    assert two.planned_bytes == sum(m.planned_bytes for m in two.methods) - state
    assert two.methods[1].coverage >= two.methods[0].coverage
    # One token needs less room than several.
    assert two.methods[1].planned_bytes <= two.methods[0].planned_bytes
