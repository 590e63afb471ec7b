"""Model packages on disk: written whole or not at all, and checked against their manifest."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nearside_export.errors import ExportError, PackageError
from nearside_export.manifest import FILE_NAME, Classify, FileRef, Manifest

SUFFIX = ".nearside"


def file_ref(folder: Path, name: str) -> FileRef:
    """Measure ``folder/name``: size in bytes and sha256. `ExportError` for an empty file."""
    size, sha256 = _measure(folder / name)
    if size == 0:
        raise ExportError(f"{folder / name} is empty: a package holds no empty files")
    return FileRef(path=name, bytes=size, sha256=sha256)


def check_files(package: Path, manifest: Manifest) -> None:
    """Compare every file that the manifest names, whatever its task, with its size and sha256."""
    for ref in manifest.files():
        try:
            size, sha256 = _measure(package / ref.path)
        except OSError as error:
            raise PackageError(f"{package}: cannot read {ref.path}: {error}") from error
        if (size, sha256) != (ref.bytes, ref.sha256):
            raise PackageError(
                f"{package}: {ref.path} has {size} bytes, sha256 {sha256}; "
                f"the manifest says {ref.bytes} bytes, sha256 {ref.sha256}. Export it again"
            )


def _measure(path: Path) -> tuple[int, str]:
    """Size in bytes and sha256, without reading the file whole: weights may have gigabytes."""
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        return file.tell(), sha256


def read_labels(package: Path, classify: Classify) -> list[str]:
    """Class names, line i = class i."""
    text = (package / classify.labels.path).read_text(encoding="utf-8")
    return text.removesuffix("\n").split("\n")


@contextmanager
def staged_folder(target: Path) -> Iterator[Path]:
    """Give a temporary sibling of ``target`` that replaces it when the block succeeds.

    On any exception the temporary folder is removed and ``target`` stays as it was.
    `ExportError` when the place is not writable.
    """
    with _staging(target) as staging:
        yield staging
        staging.chmod(0o755)
        _replace(staging, target)


@contextmanager
def staged_files(folder: Path) -> Iterator[Path]:
    """Give a temporary folder whose entries move into ``folder`` when the block succeeds.

    Entries of the same name are replaced; whatever else ``folder`` holds stays.
    """
    with _staging(folder) as staging:
        yield staging
        folder.mkdir(exist_ok=True)
        for entry in sorted(staging.iterdir()):
            _replace(entry, folder / entry.name)


@contextmanager
def _staging(target: Path) -> Iterator[Path]:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    except OSError as error:
        raise ExportError(
            f"cannot write to {target.parent}: {error.strerror}. Choose another place with --out"
        ) from error
    try:
        yield staging
    except OSError as error:
        raise ExportError(f"cannot write {target}: {error}") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def refuse_dropping(target: Path, variants: set[str]) -> None:
    """Don't replace something else than a package, or a package by one with fewer variants."""
    if not (target / FILE_NAME).exists():
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise ExportError(
                f"{target} exists and is not a model package: move it away, "
                "or choose another folder with --out"
            )
        return
    kept = {v.name for v in Manifest.read(target).variants}
    if lost := kept - variants:
        raise ExportError(
            f"{target} also holds {', '.join(sorted(lost))}, which this export would drop: "
            "use --variant all, or another folder with --out"
        )


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write ``folder/manifest.json``."""
    (folder / FILE_NAME).write_text(manifest.to_json(), encoding="utf-8")


def _replace(staging: Path, target: Path) -> None:
    if not (target.is_dir() and staging.is_dir()):
        staging.replace(target)
        return
    retired = Path(tempfile.mkdtemp(prefix=f".{target.name}-old-", dir=target.parent))
    target.replace(retired / target.name)
    staging.replace(target)
    shutil.rmtree(retired, ignore_errors=True)
