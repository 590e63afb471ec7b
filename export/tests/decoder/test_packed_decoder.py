"""Decoders of our own operators alone, beside the ones that they are made of and as programs."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import decoder_models as models
import numpy as np
import pytest
import torch
from executorch.exir._serialize._program import (
    _flatbuffer_to_program,
    _get_extended_header,
    deserialize_pte_binary,
)
from transformers import PreTrainedModel

from nearside_export.architectures.decoder import export
from nearside_export.architectures.decoder.model import Decoder
from nearside_export.architectures.packed_decoder.linear import PackedMatrix
from nearside_export.architectures.packed_decoder.model import PackedDecoder
from nearside_export.errors import UnsupportedError
from nearside_export.lower import lowering
from nearside_export.lower.delegates import DELEGATES
from nearside_export.lower.program import LoweredProgram
from nearside_export.ops.packed import tile_bytes, unpack
from nearside_export.quantise import packed
from nearside_export.quantise.decoder import SCHEMES, Calibration
from nearside_export.quantise.rounding import nearest
from nearside_export.quantise.rounding.grid import asymmetric, symmetric
from nearside_export.runtime import RunnableMethod, nearside
from nearside_export.wanted import Wanted

MAX_PREFILL = 8
SIZES = {"hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4}
CASES = {
    "llama, biases": lambda: models.llama(**SIZES, attention_bias=True, mlp_bias=True),
    "qwen3, tied": lambda: models.qwen3(**SIZES, head_dim=24, tie_word_embeddings=True),
    "gemma3": lambda: models.gemma3(
        **SIZES,
        head_dim=16,
        layer_types=["sliding_attention", "full_attention"],
        rope_parameters=models.GEMMA_ROPE,
        final_logit_softcapping=7.0,
    ),
}


def calibration() -> Calibration:
    windows = torch.cat([models.text(32), models.text(32).flip(1)])
    return Calibration(windows, windows)


def packed_decoder(
    reference: PreTrainedModel,
    scheme: str,
    cache: str = "f32",
    **options: Any,  # noqa: ANN401
) -> PackedDecoder:
    _, made = packed.apply(
        models.ours(reference),
        SCHEMES[scheme],
        models.StateDict({}),
        cache=cache,
        texts=calibration,
        **options,
    )
    return made


def logits(model: Decoder | PackedDecoder, length: int) -> torch.Tensor:
    tokens = models.text(length)
    with torch.no_grad():
        return model.logits(model.stream(model.embed(tokens), torch.arange(length)))[0]


def rounded(model: Decoder) -> Decoder:
    """Give each layer's matrix, packed by itself, in the place of the layer."""
    for name, linear in list(model.named_modules()):
        if isinstance(linear, torch.nn.Linear):
            parent, _, last = name.rpartition(".")
            weight = nearest.rows(linear.weight.detach())
            matrix = PackedMatrix([weight], None if linear.bias is None else linear.bias.detach())
            setattr(model.get_submodule(parent), last, matrix)
    table = nearest.rows(model.embedding.weight.detach()).dequantise()
    model.embedding = torch.nn.Embedding.from_pretrained(table)
    return model


@pytest.mark.parametrize("case", CASES)
def test_it_computes_what_the_decoder_does_with_the_same_integers(case: str) -> None:
    reference = CASES[case]()
    want = logits(rounded(models.ours(reference)), 40)
    got = logits(packed_decoder(reference, "int8"), 40)
    torch.testing.assert_close(got, want, atol=1e-3, rtol=0)
    plain = logits(models.ours(reference), 40)
    assert (got - plain).std() < 0.1 * plain.std()


@pytest.mark.parametrize("offsets", [False, True])
@pytest.mark.parametrize("group_size", [32, 64])
def test_layers_with_one_input_are_one_matrix(offsets: bool, group_size: int) -> None:
    generator = torch.Generator().manual_seed(0)
    first, second = (torch.randn(rows, 128, generator=generator) for rows in (20, 7))
    parts = [nearest.groups(first, group_size)]
    parts.append(nearest.groups(second, group_size, asymmetric if offsets else symmetric))
    matrix = PackedMatrix(parts)
    found = unpack(matrix.weight, 27, 128, 4).dequantise()
    # Offsets are rounded to f16.
    want = torch.cat([part.dequantise() for part in parts])
    torch.testing.assert_close(found, want, atol=5e-4, rtol=0)
    assert matrix.weight.shape[1] == tile_bytes(128, 4, offsets=offsets)


def test_a_weight_that_f16_can_not_hold_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="can't be packed for --delegate nearside"):
        PackedMatrix([nearest.groups(torch.full((4, 32), 1e6), 32)])


def lower(model: PackedDecoder, methods: str = "forward") -> LoweredProgram:
    programs = export.export_methods(model, MAX_PREFILL, methods)
    wanted = Wanted(DELEGATES["nearside"], "int8")
    return lowering.lower_methods(programs, wanted, method=next(iter(programs)))


def calls(lowered: LoweredProgram) -> Counter[str]:
    plan = deserialize_pte_binary(lowered.pte).program.execution_plan[0]
    counted: Counter[str] = Counter()
    for instruction in plan.chains[0].instructions:
        operator = plan.operators[instruction.instr_args.op_index]
        counted[operator.name.removeprefix("nearside::")] += 1
    return counted


def run(method: RunnableMethod, ends: list[int]) -> list[np.ndarray]:
    tokens = models.text(models.CONTEXT).numpy()
    method.reset()
    found = []
    for start, end in itertools.pairwise([0, *ends]):
        ids = np.ascontiguousarray(tokens[:, start:end])
        found += method.run([ids, np.arange(start, end)])
    return found


WHOLE = list(range(8, 65, 8))


@pytest.mark.parametrize(
    ("case", "scheme", "cache", "limit"),
    [
        ("llama, biases", "int8", "f32", 0.01),
        ("qwen3, tied", "8da4w", "f16", 0.03),
        ("gemma3", "8da4w", "int8", 0.03),
    ],
)
def test_a_program_answers_as_eager_in_whatever_chunks(
    case: str, scheme: str, cache: str, limit: float, nearside_cli: Path
) -> None:
    """Rings of 14 slots go round four times."""
    model = packed_decoder(CASES[case](), scheme, cache)
    lowered = lower(model)
    assert lowered.delegates == []
    assert lowered.coverage == 0.0
    with nearside.Program(lowered.pte, cli=nearside_cli) as program:
        method = program.method()
        whole = run(method, WHOLE)
        parts = run(method, [5, 6, 8, *range(9, 17), 24, 25, 32, 40, 41, 48, 56, 60, 64])
        ends = [8, 16, 24, 32, 40, 48, 56, 64]
        at = [2, 10, 11, 13, 14, 16, 17, 19]
        for end, one, index in zip(ends, whole, at, strict=True):
            assert one.tobytes() == parts[index].tobytes(), f"up to {end}"
    tokens = models.text(models.CONTEXT)
    for end, one in zip(ends, whole, strict=True):
        with torch.no_grad():
            want = model(tokens[:, end - 8 : end], torch.arange(end - 8, end)).numpy()
        # A number that is rounded the other way moves all that come after it.
        assert (one - want).std() < limit * want.std()


@pytest.mark.parametrize("case", CASES)
def test_a_program_calls_nothing_but_our_operators_and_takes_the_last_row_once(case: str) -> None:
    counted = calls(lower(packed_decoder(CASES[case](), "int8")))
    sandwich = case == "gemma3"
    want = {
        "embedding": 1,
        "rms_norm": 1 + 2 * 2 * sandwich,
        "rope_table": 1 + sandwich,
        "linear": 2 * 4 + 1,
        "rotary_attention": 2,
        "gated": 2,
        "add_rms_norm": 2 * 2,
        "aten::slice_copy": 2,
    }
    if sandwich:
        want |= {"aten::div": 1, "aten::tanh": 1, "aten::mul": 1}
    assert counted == want


def test_a_tied_table_is_stored_once_and_constants_begin_at_cache_lines() -> None:
    tied, untied = (
        lower(packed_decoder(models.qwen3(**SIZES, head_dim=16, tie_word_embeddings=tie), "int8"))
        for tie in (True, False)
    )
    table = -(-models.VOCABULARY // 16) * (64 * 16 + 64)
    assert len(untied.pte) - len(tied.pte) >= table
    header = _get_extended_header(tied.pte)
    assert header is not None
    program = _flatbuffer_to_program(tied.pte[: header.program_size])
    offsets = program.constant_segment.offsets
    assert len(offsets) > 10
    assert header.segment_base_offset % lowering.CACHE_LINE == 0
    assert all(offset % lowering.CACHE_LINE == 0 for offset in offsets)


def test_two_methods_share_caches_and_weights() -> None:
    lowered = lower(packed_decoder(CASES["llama, biases"](), "8da4w"), "prefill,decode")
    alone = lower(packed_decoder(CASES["llama, biases"](), "8da4w"))
    assert [facts.name for facts in lowered.methods] == ["prefill", "decode"]
    assert len(lowered.pte) < 1.2 * len(alone.pte)
    assert lowered.planned_bytes < 2 * alone.planned_bytes
