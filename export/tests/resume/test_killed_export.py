"""A real export, killed again and again, ends with the bytes of one that was left alone."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from nearside_export.cli import main

torch.set_num_threads(1)

PROCESS = Path(__file__).with_name("dying_export.py")
SMALL = 50_000
"""Bytes; less than the program has."""


def contents(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def no_large_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL, SMALL))


def test_a_killed_export_goes_on_where_it_was_and_gives_the_same_bytes(tmp_path: Path) -> None:
    tiny, out, work = tmp_path / "tiny", tmp_path / "out", tmp_path / "work"
    assert main(["tiny", "llama", "--out", str(tiny)]) == 0
    # XNNPACK's lowering takes seconds whatever the model; GPTQ has its two layers to keep.
    options = ["--variant", "8da4w", "--rounding", "gptq", "--context", "32", "--max-prefill", "8"]
    command = ["generate", str(tiny), *options]
    assert main([*command, "--out", str(tmp_path / "alone"), "--quiet"]) == 0
    alone = contents(tmp_path / "alone" / "tiny.nearside")

    def export(point: str, limited: bool = False) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, PROCESS, point, *command, "--out", out, "--work", work],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
            preexec_fn=no_large_files if limited else None,
        )
        return done.returncode, done.stderr

    def kept() -> set[str]:
        (place,) = work.iterdir()
        return {p.name for p in place.iterdir()}

    assert export("keeping:xnnpack-8da4w-gptq-1")[0] == -signal.SIGKILL
    assert kept() == {"xnnpack-8da4w-gptq-0", "xnnpack-8da4w-gptq-1.part"}
    package = out / "tiny.nearside"
    shutil.copytree(tmp_path / "alone" / "tiny.nearside", package)
    code, said = export("replacing")
    assert code == -signal.SIGKILL
    assert "quantise took" in said
    assert kept() == {"xnnpack-8da4w-rounded", "program-xnnpack-8da4w"}
    # Killed in the very moment in which there was neither package.
    assert not package.exists()
    assert len(list(out.iterdir())) == 2
    code, said = export("never", limited=True)
    assert code == 1, said
    assert "File too large" in said
    assert "bytes left in" in said
    assert "Traceback" not in said
    assert contents(package) == alone
    assert [p.name for p in out.iterdir()] == [package.name]
    code, said = export("never")
    assert code == 0, said
    assert "lowered by an earlier export" in said
    assert ": quantise" not in said
    assert ": lower took" not in said
    assert contents(package) == alone
    assert [p.name for p in out.iterdir()] == [package.name]
    assert list(work.iterdir()) == []


def test_an_interrupted_export_is_resumed_unless_asked_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from nearside_export.tasks import classify

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    out, work = tmp_path / "out", tmp_path / "work"
    command = ["classify", "tiny-classifier", "--variant", "fp32", "--out", str(out)]
    command += ["--work", str(work)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(classify, "measure_quality", interrupted)
        assert main(command) == 130
    assert list(out.iterdir()) == []
    (place,) = work.iterdir()
    (program,) = place.iterdir()
    damaged = bytearray(program.read_bytes())
    damaged[-10] ^= 1
    program.write_bytes(damaged)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(classify, "measure_quality", interrupted)
        assert main(command) == 130
    said = capsys.readouterr().err
    assert "kept work can't be used and is made again" in said
    assert "does not have the sha256" in said
    assert said.count("lower took") == 2
    assert main([*command, "--no-resume"]) == 0
    assert capsys.readouterr().err.count("lower took") == 1
    assert list(work.iterdir()) == []
