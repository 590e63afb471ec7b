"""The same programs by ExecuTorch's wheel and by Nearside's runtime."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import MODELS

from nearside_export.errors import ExportError, MethodError
from nearside_export.runtime import Array, RunnableMethod, nearside, wheel

FOLDER = MODELS / "fixtures"
EXPECTED = json.loads((FOLDER / "fixtures.json").read_text(encoding="utf-8"))
NUMPY = {"f32": np.float32, "f64": np.float64, "i64": np.int64, "i32": np.int32, "u8": np.uint8}

Load = Callable[[str, str], RunnableMethod]


def array(raw: dict) -> Array:
    return np.array(raw["values"], NUMPY[raw["dtype"]]).reshape(raw["shape"])


def calls(file: str) -> list[dict]:
    return next(s["calls"] for s in EXPECTED["sequences"] if s["file"] == file)


@pytest.fixture(params=["wheel", "nearside"])
def load(request: pytest.FixtureRequest) -> Iterator[Load]:
    """Load a method of a program, by either runtime."""
    if request.param == "wheel":
        yield lambda file, method: wheel.LoadedMethod(FOLDER / file, method)
        return
    request.getfixturevalue("nearside_cli")
    programs: dict[str, nearside.Program] = {}

    def by_nearside(file: str, method: str) -> RunnableMethod:
        if file not in programs:
            programs[file] = nearside.Program(FOLDER / file, threads=1)
        return programs[file].method(method)

    yield by_nearside
    for program in programs.values():
        program.close()


def check(method: RunnableMethod, call: dict) -> None:
    outputs = method.run([array(raw) for raw in call["inputs"]])
    for got, raw in zip(outputs, call["outputs"], strict=True):
        want = array(raw)
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_state_stays_until_it_is_reset(load: Load) -> None:
    sequence = calls("counter.pte")
    method = load("counter.pte", "forward")
    for call in sequence:
        check(method, call)
    method.reset()
    for call in sequence:
        check(method, call)
    assert len(method.calls_ms) == 2 * len(sequence)
    assert min(method.calls_ms) > 0


def test_arrays_of_any_layout_and_numbers_come_through(load: Load) -> None:
    method = load("add.pte", "forward")
    first = np.arange(6, dtype=np.float32).reshape(3, 2).T
    second = np.arange(12, dtype=">f4").reshape(2, 6)[:, ::2]
    (total,) = method.run([first, second])
    np.testing.assert_array_equal(total, first + second)
    (length,) = load("metadata.pte", "get_max_seq_len").run([])
    assert (length.shape, length.dtype) == ((), np.int64)


def test_what_can_not_run_is_an_error_that_says_why(load: Load) -> None:
    with pytest.raises(MethodError, match=r"no method .backward"):
        load("counter.pte", "backward").run([])
    method = load("counter.pte", "forward")
    with pytest.raises(MethodError):
        method.run([np.zeros((1, 4), np.float32)])
    check(method, calls("counter.pte")[0])


@pytest.mark.usefixtures("nearside_cli")
def test_our_operators_give_what_eager_gave() -> None:
    with nearside.Program((FOLDER / "attention.pte").read_bytes()) as program:
        methods = {name: program.method(name) for name in ("forward", "windowed", "visible")}
        for call in calls("attention.pte"):
            check(methods[call["method"]], call)
    with pytest.raises(MethodError, match="closed"):
        methods["forward"].run([])


@pytest.mark.usefixtures("nearside_cli")
def test_methods_can_share_their_state() -> None:
    with nearside.Program(FOLDER / "counter-shared.pte", share=["forward", "read"]) as program:
        methods = {name: program.method(name) for name in ("forward", "read")}
        for _ in range(2):
            for call in calls("counter-shared.pte"):
                check(methods[call["method"]], call)
            methods["read"].reset()


@pytest.mark.usefixtures("nearside_cli")
def test_methods_of_one_program_are_told_apart_in_the_report() -> None:
    with nearside.Program(FOLDER / "multi.pte", threads=1) as program:
        x = np.ones((2, 3), np.float32)
        for _ in range(3):
            np.testing.assert_array_equal(program.method("forward").run([x])[0], -x)
        np.testing.assert_array_equal(program.method("twice").run([x])[0], 2 * x)
        report = program.report()
    assert report.threads == 1
    assert [(m.name, m.calls) for m in report.methods] == [("forward", 3), ("twice", 1)]
    for method in report.methods:
        assert method.load_ms > 0
        assert method.min_ms is not None
        assert method.min_ms <= method.median_ms <= method.total_ms
    assert 0 < report.start_bytes <= report.peak_bytes
    assert report.calls_peak_bytes is None or report.calls_peak_bytes <= report.peak_bytes


@pytest.mark.usefixtures("nearside_cli")
def test_a_process_that_ends_says_why(tmp_path: Path) -> None:
    with (
        nearside.Program(tmp_path / "none.pte") as program,
        pytest.raises(MethodError, match=r"ended with 1: error: cannot read .*none\.pte"),
    ):
        program.method().run([])
    with (
        nearside.Program(FOLDER / "unknown-operator.pte") as program,
        pytest.raises(MethodError, match=r"nearside_test::twist\.out"),
    ):
        program.method().run([np.zeros(4, np.float32)])


def test_a_missing_command_says_how_to_build_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(nearside.ENVIRONMENT, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ExportError, match="not found on the PATH; build it with `cargo build"):
        nearside.command()
    monkeypatch.setenv(nearside.ENVIRONMENT, str(tmp_path / "nearside"))
    with pytest.raises(ExportError, match=f"not found at {tmp_path}"):
        nearside.command()
