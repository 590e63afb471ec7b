"""The committed test programs, run by ExecuTorch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import MODELS

from nearside_export import fixtures
from nearside_export.runtime import LoadedMethod

FOLDER = MODELS / "fixtures"
CASES = json.loads((FOLDER / "fixtures.json").read_text(encoding="utf-8"))["cases"]


def array(raw: dict[str, Any]) -> np.ndarray:
    return np.asarray(raw["values"], dtype=np.float32).reshape(raw["shape"])


@pytest.mark.parametrize(
    "case", CASES, ids=lambda c: f"{c['file']}-{c['method']}-{c['inputs'][0]['shape']}"
)
def test_a_committed_program_returns_what_eager_pytorch_returned(case: dict[str, Any]) -> None:
    method = LoadedMethod((FOLDER / case["file"]).read_bytes(), case["method"])
    outputs = method.run([array(i) for i in case["inputs"]])
    for got, want in zip(outputs, case["outputs"], strict=True):
        np.testing.assert_allclose(got, array(want), rtol=1e-5, atol=1e-6)


def test_the_fixtures_can_be_made_again(tmp_path: Path) -> None:
    out = tmp_path / "fixtures"
    fixtures.export(out, "nearside-export fixtures")
    again = json.loads((out / "fixtures.json").read_text(encoding="utf-8"))["cases"]
    assert [(c["file"], c["method"]) for c in again] == [(c["file"], c["method"]) for c in CASES]
    for new, old in zip(again, CASES, strict=True):
        np.testing.assert_array_equal(array(new["inputs"][0]), array(old["inputs"][0]))
        np.testing.assert_allclose(
            array(new["outputs"][0]), array(old["outputs"][0]), rtol=1e-5, atol=1e-6
        )
    expected = {p.relative_to(FOLDER) for p in FOLDER.rglob("*")}
    assert {p.relative_to(out) for p in out.rglob("*")} == expected
