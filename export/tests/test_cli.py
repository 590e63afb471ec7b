from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import TINY

from nearside_export.cli import main
from nearside_export.commands.classify import CLASSIFIERS


def test_an_unknown_model_is_a_usage_error_that_lists_the_known_ones() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "nearside_export", "classify", "resnet-9000"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert "unknown model 'resnet-9000'; known: efficientnet-lite0, tiny-classifier" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_command_line_knows_every_registered_classifier() -> None:
    from nearside_export.architectures import registry

    assert set(CLASSIFIERS) == set(registry.CLASSIFIERS)


@pytest.mark.parametrize("arguments", [[], ["classify"], ["classify", "x", "--rounding", "up"]])
def test_wrong_usage_exits_with_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == 2


def test_an_output_folder_that_cannot_be_made_exits_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_text("not a folder")
    code = main(["classify", "tiny-classifier", "--variant", "fp32", "--out", str(file / "models")])
    assert code == 1
    assert "cannot write to" in capsys.readouterr().err
    assert file.read_text() == "not a folder"


def test_classify_makes_a_package_that_verify_confirms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["classify", "tiny-classifier", "--variant", "fp32", "--out", str(tmp_path)]) == 0
    package = tmp_path / "tiny-classifier-fp32.nearside"
    assert main(["verify", str(package)]) == 0
    out = capsys.readouterr().out
    assert "manifest: top-1 agreement 1.0000" in out
    assert "measured: top-1 agreement 1.0000" in out


@pytest.mark.parametrize("name", ["missing", "damaged"])
def test_verify_of_a_bad_package_exits_with_1(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    package = tmp_path / f"{name}.nearside"
    if name == "damaged":
        shutil.copytree(TINY, package)
        (package / "labels.txt").write_text("red\n")
    assert main(["verify", str(package)]) == 1
    assert name in capsys.readouterr().err
