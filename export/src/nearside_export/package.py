"""Model packages on disk: written whole or not at all, and checked against their manifest."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from nearside_export import disk
from nearside_export.errors import DiskError, ExportError, PackageError, UsageError
from nearside_export.manifest import FILE_NAME, Classify, FileRef, Manifest

SUFFIX = ".nearside"
LONGEST_NAME = 100
_STAGING = "-export-"
"""Between a package's name and random letters in the names of temporary folders beside it."""
_OURS: set[Path] = set()
"""Staging folders that this process has locked."""


def clean_name(name: str) -> str:
    """Spell a model's name as a file name on every system; `UsageError` for a very long one."""
    clean = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "model"
    if len(clean) > LONGEST_NAME:
        raise UsageError(
            f"the name {clean[:20]}… has {len(clean)} characters, more than {LONGEST_NAME}: give a "
            "shorter one with --name"
        )
    return clean


def package_path(out: Path, name: str, schemes: Iterable[str]) -> Path:
    """Where a package goes: fp32 alone gets a name of its own, beside the other variants'."""
    return out / f"{name}{'-fp32' if set(schemes) == {'fp32'} else ''}{SUFFIX}"


def licence_of(origin: str, asked: str | None, stated: str | None) -> str:
    """Licence to write into the manifest: as asked for, or as the source states."""
    licence = asked or stated
    if licence is None:
        raise UsageError(f"{origin} states no licence: give it with --licence (SPDX)")
    return licence


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
        staging, lock = _make_staging(target)
    except OSError as error:
        raise DiskError(
            f"cannot write to {target.parent}: {error.strerror}. Choose another place with --out"
        ) from error
    _OURS.add(staging.resolve())
    try:
        yield staging
    except OSError as error:
        raise disk.write_error(target, error) from error
    finally:
        _OURS.discard(staging.resolve())
        shutil.rmtree(staging, ignore_errors=True)
        os.close(lock)


def _make_staging(target: Path) -> tuple[Path, int]:
    """Make a temporary sibling of ``target`` and lock it, as a file descriptor, while we live."""
    parent = os.open(target.parent, os.O_RDONLY)
    try:
        # Nobody takes a folder for left behind between its making and its locking. In one of our
        # own, which is locked, nobody else is at work.
        if target.parent.resolve() not in _OURS:
            fcntl.flock(parent, fcntl.LOCK_EX)
        _sweep(target)
        prefix = f".{target.name}{_STAGING}"
        staging = Path(tempfile.mkdtemp(prefix=prefix, dir=target.parent))
        lock = os.open(staging, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
    finally:
        os.close(parent)
    return staging, lock


def _sweep(target: Path) -> None:
    """Remove what killed exports left beside ``target``, and put back what one was replacing."""
    for left in sorted(target.parent.iterdir()):
        if not left.name.startswith(f".{target.name}{_STAGING}") or not left.is_dir():
            continue
        handle = os.open(left, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not target.exists() and (left / target.name).is_dir():
                (left / target.name).replace(target)
            shutil.rmtree(left, ignore_errors=True)
        except BlockingIOError:
            pass  # Another export is at work on it.
        finally:
            os.close(handle)


def refuse_dropping(target: Path, variants: Collection[str]) -> None:
    """Don't replace something else than a package, or a package by one with fewer variants."""
    if not (target / FILE_NAME).exists():
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise ExportError(
                f"{target} exists and is not a model package: move it away, "
                "or choose another folder with --out"
            )
        return
    kept = {v.name for v in Manifest.read(target).variants}
    if lost := sorted(kept.difference(variants)):
        raise ExportError(
            f"{target} also holds {', '.join(lost)}, which this export would drop: export them "
            f"together with --variant {','.join([*variants, *lost])}, or choose another folder "
            "with --out"
        )


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write ``folder/manifest.json``."""
    (folder / FILE_NAME).write_text(manifest.to_json(), encoding="utf-8")


def _replace(staging: Path, target: Path) -> None:
    if not (target.is_dir() and staging.is_dir()):
        staging.replace(target)
        return
    retired, lock = _make_staging(target)
    try:
        target.replace(retired / target.name)
        try:
            staging.replace(target)
        except BaseException:
            (retired / target.name).replace(target)
            raise
        shutil.rmtree(retired, ignore_errors=True)
    finally:
        os.close(lock)
