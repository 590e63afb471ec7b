"""What delegates need beside the exporter's own environment, and how its absence is said."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from nearside_export.cli import main
from nearside_export.errors import LibraryError, UsageError
from nearside_export.lower import requirements
from nearside_export.tasks import preflight
from nearside_export.wanted import read


def here(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True


@pytest.mark.parametrize(
    ("delegate", "package"), [("openvino", "openvino"), ("coreml", "coremltools")]
)
def test_missing_packages_are_named_with_the_command_that_installs_them(
    delegate: str, package: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if here(package):
        pytest.skip(f"{package} is installed")
    command = [
        "classify",
        "tiny-classifier",
        "--delegate",
        delegate,
        "--out",
        str(tmp_path / "out"),
    ]
    assert main(command) == 1
    said = capsys.readouterr().err
    assert f"{package} is not installed" in said
    assert f"pip install '{package}" in said
    assert not (tmp_path / "out").exists()


def test_a_package_of_another_version_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    older = f"numpy<{metadata.version('numpy')}"
    monkeypatch.setattr(requirements, "OPENVINO", (older,))
    with pytest.raises(LibraryError, match=r"numpy is \d.*pip install 'numpy<"):
        requirements.require("openvino", None)


def test_qnn_needs_a_chip_and_qualcomms_sdk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("QNN_SDK_ROOT", raising=False)
    with pytest.raises(UsageError, match="name it with --soc"):
        requirements.require("qnn", None)
    with pytest.raises(LibraryError, match="own licence: install it and set QNN_SDK_ROOT"):
        requirements.require("qnn", "SM8650")
    monkeypatch.setenv("QNN_SDK_ROOT", str(tmp_path))
    with pytest.raises(LibraryError, match=r"no libQnnHtp.so and no libQnnSystem.so"):
        requirements.require("qnn", "SM8650")


def test_what_runs_nowhere_here_is_refused_unless_that_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / requirements.QNN_HOST
    folder.mkdir(parents=True)
    for name in requirements.QNN_LIBRARIES:
        (folder / name).touch()
    monkeypatch.setenv("QNN_SDK_ROOT", str(tmp_path))
    wanted = read(["int8", "qnn-fp16"], "classify")
    with pytest.raises(UsageError, match=r"unknown chip 'SM1' for --soc; known: .*SM8650"):
        preflight.check(wanted, soc="SM1", unmeasured=True)
    with pytest.raises(UsageError, match=r"quality of qnn-fp16 can't be measured.*--unmeasured"):
        preflight.check(wanted, soc="SM8650")
    reasons = preflight.check(wanted, soc="SM8650", unmeasured=True)
    assert list(reasons) == ["qnn-fp16"]
    assert "NPU" in reasons["qnn-fp16"]
