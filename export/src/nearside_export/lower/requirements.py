"""What a delegate needs beside the exporter's own environment, looked for without importing it."""

from __future__ import annotations

import os
from importlib import metadata
from pathlib import Path

from nearside_export.errors import LibraryError, UsageError
from nearside_export.lower.delegates import DELEGATES

OPENVINO = ("openvino>=2025.1,<2026", "nncf==3.1.0", "pytorch-tokenizers>=1.5.0")
COREML = ("coremltools==9.0",)
QNN_ROOT = "QNN_SDK_ROOT"
QNN_LIBRARIES = ("libQnnHtp.so", "libQnnSystem.so")
QNN_SDK = "2.37"
"""The SDK whose interface ExecuTorch's library was built for (QNN API 2.27)."""
QNN_HOST = Path("lib") / "x86_64-linux-clang"


def require(delegate: str, soc: str | None) -> None:
    """`LibraryError` names what is missing; ``soc`` is the chip to compile for (QNN)."""
    if delegate == "openvino":
        _packages(delegate, OPENVINO)
    elif delegate == "coreml":
        _packages(delegate, COREML)
    elif delegate == "qnn":
        if soc is None:
            raise UsageError("--delegate qnn compiles for one chip: name it with --soc, as SM8650")
        qnn_sdk()
        qnn_chip(soc)


def qnn_chip(soc: str) -> int:
    """Return ExecuTorch's number of the chip ``soc``; `UsageError` names those that it knows."""
    from executorch.backends.qualcomm.utils.utils import get_soc_to_chipset_map

    chips = get_soc_to_chipset_map()
    if soc not in chips:
        raise UsageError(f"unknown chip {soc!r} for --soc; known: {', '.join(sorted(chips))}")
    return chips[soc]


def qnn_sdk() -> Path:
    """Return the folder of Qualcomm's SDK; `LibraryError` where it is not there.

    Without the variable ExecuTorch would download it, more than a gigabyte under a licence that
    nobody was asked about.
    """
    root = os.environ.get(QNN_ROOT)
    if not root:
        raise LibraryError(
            f"--delegate qnn needs Qualcomm's AI Engine Direct SDK {QNN_SDK}, which is under its "
            f"own licence: install it and set {QNN_ROOT} to its folder"
        )
    folder = Path(root) / QNN_HOST
    if missing := [name for name in QNN_LIBRARIES if not (folder / name).is_file()]:
        raise LibraryError(
            f"{QNN_ROOT} is {root}, but {QNN_HOST} in it has no {' and no '.join(missing)}: set it "
            f"to the folder of Qualcomm's AI Engine Direct SDK {QNN_SDK} for Linux x86_64"
        )
    return Path(root)


def _packages(delegate: str, packages: tuple[str, ...]) -> None:
    from packaging.requirements import Requirement

    problems = []
    for requirement in map(Requirement, packages):
        try:
            version = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            problems.append(f"{requirement.name} is not installed")
            continue
        if not requirement.specifier.contains(version):
            problems.append(f"{requirement.name} is {version}")
    if problems:
        wanted = " ".join(f"'{package}'" for package in packages)
        raise LibraryError(
            f"--delegate {delegate} ({DELEGATES[delegate].backend}) needs packages beside the "
            f"exporter's own: {', '.join(problems)}. Install them with: pip install {wanted}"
        )
