"""``--dry-run``: figures, in no time and without a file."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from embed.conftest import write_folder

from nearside_export.cli import main

PROBE = """
import sys
from nearside_export.cli import main
code = main(sys.argv[1:])
print("heavy:", [m for m in ("torch", "executorch", "transformers") if m in sys.modules])
sys.exit(code)
"""


def megabytes(text: str, what: str) -> float:
    number, unit = re.search(rf"{what} +about ([\d.]+) (KB|MB|GB)", text).groups()
    return float(number) * {"KB": 0.001, "MB": 1, "GB": 1000}[unit]


def test_a_language_model_is_planned_without_pytorch(tmp_path: Path) -> None:
    tiny, out, work = tmp_path / "tiny", tmp_path / "out", tmp_path / "work"
    assert main(["tiny", "llama", "--out", str(tiny)]) == 0
    options = ["--variant", "8da4w", "--out", str(out), "--work", str(work), "--dry-run"]
    done = subprocess.run(
        [sys.executable, "-c", PROBE, "generate", str(tiny), *options],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": ":".join(p for p in sys.path if p)},
    )
    assert done.returncode == 0, done.stderr
    assert "heavy: []" in done.stdout
    assert "8da4w, groups of 32, rounding auto" in done.stdout
    assert "XnnpackBackend" in done.stdout
    assert re.search(r"attention +plain", done.stdout)
    assert "0.1 million" in done.stdout
    assert 0 < megabytes(done.stdout, "package") < 5
    assert 100 < megabytes(done.stdout, "memory") < 2000
    assert f"free in {out}" in done.stdout
    assert f"free in {work}" in done.stdout
    assert not out.exists()
    assert not work.exists()


def test_wrong_options_are_found_by_a_dry_run_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tiny = tmp_path / "tiny"
    assert main(["tiny", "llama", "--out", str(tiny)]) == 0
    assert main(["generate", str(tiny), "--context", "257", "--dry-run"]) == 2
    assert "--context 257 is more than the 256 positions" in capsys.readouterr().err
    for options, said in (
        (["--variant", "int8", "--context", "15"], "--context 15 is too short"),
        (["--variant", "8da4w", "--group-size", "128"], "64 columns are no whole groups of 128"),
        (["--variant", "8da4w", "--rounding", "source"], "--rounding source is for GGUF files"),
        (["--name", "x" * 101], "has 101 characters"),
    ):
        assert main(["generate", str(tiny), *options, "--dry-run"]) == 2
        assert said in capsys.readouterr().err
    (tiny / "README.md").unlink()
    assert main(["generate", str(tiny), "--dry-run"]) == 2
    assert "states no licence" in capsys.readouterr().err


def test_other_tasks_are_planned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, bert = tmp_path / "out", tmp_path / "bert"
    write_folder(bert, "bert")
    for command, quantisation in (
        (["classify", "tiny-classifier", "--variant", "all"], "pt2e-static-int8, none"),
        (["embed", str(bert)], "pt2e-dynamic-int8"),
    ):
        assert main([*command, "--dry-run", "--out", str(out)]) == 0
        assert quantisation in capsys.readouterr().out
    folder = tmp_path / "eyes"
    assert main(["tiny", "gemma3-vision", "--out", str(folder)]) == 0
    assert main(["describe", str(folder), "--dry-run", "--out", str(out)]) == 0
    assert "eyes-fp32.nearside: nothing was written" in capsys.readouterr().out
    source = ["--variant", "8da4w", "--rounding", "source"]
    assert main(["describe", str(folder), "--dry-run", *source]) == 2
    assert "--rounding source is for GGUF files" in capsys.readouterr().err
    assert main(["describe", str(folder), "--dry-run", "--context", "257"]) == 2
    assert "--context 257 is more than the 256" in capsys.readouterr().err
    assert main(["embed", str(bert), "--dry-run", "--max-tokens", "1"]) == 2
    assert "--max-tokens 1 must be 2 to" in capsys.readouterr().err
    assert not out.exists()
