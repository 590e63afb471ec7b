"""Exports that can't be: each says why in a line, ends with its code and leaves nothing behind."""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from nearside_export import disk
from nearside_export.architectures import registry
from nearside_export.architectures.tiny_colour import TINY_COLOUR
from nearside_export.cli import main
from nearside_export.errors import DiskError
from nearside_export.package import staged_folder

torch.set_num_threads(1)


class Pooling(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.adaptive_avg_pool3d(x, (1, 3, 1))


class Spectrum(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.linalg.svdvals(x)[..., None]


class Branch(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x if x.sum() > 0 else -x


class Network(torch.nn.Module):
    def __init__(self, middle: torch.nn.Module) -> None:
        super().__init__()
        self.middle = middle

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.middle(x + 1.0).mean(dim=(2, 3))


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    assert main(["tiny", "llama", "--out", str(tmp_path / "tiny")]) == 0
    return tmp_path / "tiny"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KB: only root can mount one."""
    place = tmp_path / "small"
    place.mkdir()
    libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
    if libc is None or libc.mount(b"tmpfs", os.fsencode(place), b"tmpfs", 0, b"size=64k"):
        pytest.skip("needs to mount a small tmpfs")
    yield place
    libc.umount2(os.fsencode(place), 2)


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (Pooling, "no runtime has a kernel for: aten::_adaptive_avg_pool3d.out (called by middle "),
        (Spectrum, "that ExecuTorch can't lower: aten::_linalg_svd (called by middle (Spectrum)"),
        (Branch, "PyTorch can't trace odd at tests/resume/test_failures.py:"),
    ],
)
def test_operators_without_a_kernel_are_named_with_the_module_that_calls_them(
    module: type[torch.nn.Module],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    odd = dataclasses.replace(TINY_COLOUR, name="odd", load=lambda: Network(module()).eval())
    monkeypatch.setitem(registry.CLASSIFIERS, "odd", odd)
    monkeypatch.setattr("nearside_export.commands.classify.CLASSIFIERS", ("odd",))
    out = tmp_path / "out"
    assert main(["classify", "odd", "--variant", "fp32", "--out", str(out), "--quiet"]) == 1
    said = capsys.readouterr().err
    assert message in said
    assert "test_failures.py:" in said
    assert "Traceback" not in said
    assert list(out.iterdir()) == []


def test_too_little_room_is_found_before_the_work(
    tiny: Path, small_disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["generate", str(tiny), "--out", str(small_disk)]) == 1
    said = capsys.readouterr().err
    assert "tiny-fp32.nearside takes about" in said
    assert "Make room" in said
    assert ": load" not in said
    assert list(small_disk.iterdir()) == []


def test_a_full_disk_keeps_the_old_package_and_nothing_else(small_disk: Path) -> None:
    target = small_disk / "m.nearside"
    target.mkdir()
    (target / "old").write_text("kept")
    full = pytest.raises(DiskError, match=r"No space left on device .* bytes left in")
    with full, staged_folder(target) as folder:
        (folder / "program").write_bytes(bytes(100_000))
    assert [p.name for p in small_disk.iterdir()] == ["m.nearside"]
    assert (target / "old").read_text() == "kept"


def test_a_disk_that_is_read_only_is_found_before_the_work(
    small_disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    remount, read_only = 32, 1
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mount(None, os.fsencode(small_disk), None, remount | read_only, None) == 0
    refused = pytest.raises(DiskError, match=r"Read-only file system\. Choose another place")
    with refused, staged_folder(small_disk / "m.nearside"):
        pytest.fail("the work began")
    command = ["classify", "tiny-classifier", "--variant", "fp32", "--quiet"]
    assert main([*command, "--out", str(small_disk)]) == 1
    assert "nearside-export: " in capsys.readouterr().err


def test_a_folder_that_a_killed_export_left_goes_and_others_stay(tmp_path: Path) -> None:
    target = tmp_path / "m.nearside"
    stale, other = tmp_path / ".m.nearside-export-abc", tmp_path / ".n.nearside-export-abc"
    for place in (stale, other):
        place.mkdir()
        (place / "half").write_text("")
    with staged_folder(target) as folder, staged_folder(target) as beside:
        assert not stale.exists()
        assert folder.exists()
        (beside / "file").write_text("second")
        (folder / "file").write_text("first")
    assert (target / "file").read_text() == "first"
    assert sorted(p.name for p in tmp_path.iterdir()) == [other.name, target.name]


@pytest.mark.parametrize(
    ("file", "field", "value", "message"),
    [
        ("config.json", "hidden_act", "relu", "config.json: hidden_act is 'relu'"),
        ("config.json", "rms_norm_eps", None, "config.json: rms_norm_eps is missing"),
        ("config.json", "num_hidden_layers", 3, "layers.2.self_attn.q_proj.weight' is missing"),
        ("config.json", "model_type", "mamba", "config.json: model_type is 'mamba'"),
        ("tokenizer.json", "model", None, "tokenizer.json"),
    ],
)
@pytest.mark.parametrize("dry", [True, False])
def test_a_field_that_is_wrong_is_named_at_once_dry_or_not(
    tiny: Path,
    tmp_path: Path,
    file: str,
    field: str,
    value: object,
    message: str,
    dry: bool,
    capsys: pytest.CaptureFixture[str],
) -> None:
    raw = json.loads((tiny / file).read_text())
    (tiny / file).write_text(json.dumps({**raw, field: value}))
    command = ["generate", str(tiny), "--out", str(tmp_path / "out")]
    assert main([*command, *(["--dry-run"] if dry else [])]) == 1
    said = capsys.readouterr()
    assert message in said.err
    assert "Traceback" not in said.err
    assert not (tmp_path / "out").exists()


def test_a_missing_tokenizer_is_named(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tiny / "tokenizer.json").unlink()
    assert main(["generate", str(tiny), "--out", str(tmp_path / "out")]) == 1
    assert "tokenizer.json is missing" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_room_is_looked_up_where_a_folder_will_be(tmp_path: Path) -> None:
    assert disk.free(tmp_path / "a" / "b") == pytest.approx(
        shutil.disk_usage(tmp_path).free, rel=0.1
    )
