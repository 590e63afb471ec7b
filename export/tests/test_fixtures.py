"""The committed test programs, run by ExecuTorch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import MODELS
from executorch.runtime import Method, Program, Runtime

from nearside_export import fixtures
from nearside_export.fixtures.expected import DTYPES, Value

FOLDER = MODELS / "fixtures"
EXPECTED = json.loads((FOLDER / "fixtures.json").read_text(encoding="utf-8"))
TORCH = {name: dtype for dtype, name in DTYPES.items()}

Json = dict[str, Any]

LANGUAGE = ("tiny-gemma3-text", "tiny-llama", "tiny-llama-rows", "tiny-qwen3")
"""Packages of language models beside them, which have commands of their own (models/README.md)."""


def value(raw: Json) -> Value:
    if "dtype" in raw:
        return torch.tensor(raw["values"], dtype=TORCH[raw["dtype"]]).reshape(raw["shape"])
    (scalar,) = raw.values()
    return scalar


def assert_close(got: Value, want: Value, tolerance: float) -> None:
    assert type(got) is type(want)
    if isinstance(got, str):
        assert got == want
    else:
        torch.testing.assert_close(got, want, rtol=1e-5, atol=tolerance)


def check(method: Method, call: Json) -> None:
    outputs = method.execute([value(raw) for raw in call["inputs"]])
    for got, want in zip(outputs, call["outputs"], strict=True):
        assert_close(got, value(want), call.get("tolerance", 1e-6))


def load(case: Json) -> Program:
    """Load a program; the wheel's runtime takes one data file, so one with more is not run here."""
    data = case.get("data", [])
    path = FOLDER / data[0] if data else None
    return Runtime.get().load_program(FOLDER / case["file"], data_path=path)


def name(case: Json) -> str:
    return f"{case['file']}-{case['method']}-{[i.get('shape', i) for i in case['inputs']]}"


RUN = [c for c in EXPECTED["cases"] if len(c.get("data", [])) < 2 and "needs" not in c]


@pytest.mark.parametrize("case", RUN, ids=name)
def test_a_committed_program_returns_what_eager_pytorch_returned(case: Json) -> None:
    program = load(case)
    check(program.load_method(case["method"]), case)


STOCK = [s for s in EXPECTED["sequences"] if "needs" not in s]


@pytest.mark.parametrize("sequence", STOCK, ids=lambda s: s["file"])
def test_a_program_with_state_returns_what_eager_pytorch_returned(sequence: Json) -> None:
    program = load(sequence)
    # All before the first call: loading a method writes the initial values of its state.
    methods = {name: program.load_method(name) for name in program.method_names}
    for call in sequence["calls"]:
        check(methods[call["method"]], call)


@pytest.mark.parametrize("file", ["unknown-operator.pte", "unknown-delegate.pte"])
def test_the_stock_runtime_refuses_what_nobody_has(file: str) -> None:
    program = load({"file": file})
    with pytest.raises(RuntimeError):
        program.load_method("forward")


def test_the_fixtures_can_be_made_again(tmp_path: Path) -> None:
    out = tmp_path / "fixtures"
    fixtures.export(out, "nearside-export fixtures")
    again = json.loads((out / "fixtures.json").read_text(encoding="utf-8"))
    assert_same(again, EXPECTED)
    others = {f"{name}.nearside" for name in LANGUAGE}
    expected = {p.relative_to(FOLDER) for p in FOLDER.rglob("*")}
    expected = {p for p in expected if p.parts[0] not in others}
    assert {p.relative_to(out) for p in out.rglob("*")} == expected


def assert_same(new: object, old: object) -> None:
    """Equal but for the last digits of computed values, which depend on the CPU."""
    assert type(new) is type(old)
    if isinstance(new, dict) and isinstance(old, dict):
        assert list(new) == list(old)
        for key in new:
            assert_same(new[key], old[key])
    elif isinstance(new, list) and isinstance(old, list):
        assert len(new) == len(old)
        for one, other in zip(new, old, strict=True):
            assert_same(one, other)
    elif isinstance(new, float):
        assert new == pytest.approx(old, rel=1e-5, abs=1e-6)
    else:
        assert new == old
