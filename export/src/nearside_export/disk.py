"""Room on disks: asked for before long work, and named when it ran out."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from pathlib import Path

from nearside_export.errors import DiskError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def free(folder: Path) -> int:
    """Bytes that can be written where ``folder`` is, or will be."""
    return shutil.disk_usage(_existing(folder)).free


def require(folder: Path, size: int, what: str) -> None:
    """`DiskError` where ``size`` bytes of ``what`` do not fit beside what is in ``folder``."""
    room = free(folder)
    if room < size:
        raise DiskError(
            f"{what} takes about {size} bytes, and {folder} has {room} left. Make room, or choose "
            "another place with --out. Nothing was written"
        )


def writable(folder: Path) -> bool:
    """Whether ``folder``, or the folder that it would be made in, can be written to."""
    return os.access(_existing(folder), os.W_OK | os.X_OK)


def write_error(target: Path, error: OSError) -> DiskError:
    """Say in words why ``target`` could not be written."""
    if error.errno not in _FULL:
        return DiskError(f"cannot write {target}: {error}")
    places = {target.parent, Path(tempfile.gettempdir())}
    rooms = ", ".join(f"{free(p)} bytes left in {p}" for p in sorted(places))
    return DiskError(
        f"cannot write {target}: {error.strerror} ({rooms}). Make room, or choose another place "
        "with --out. Nothing was written, and an older package is as it was"
    )


def _existing(folder: Path) -> Path:
    place = folder.absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    return place


def device(folder: Path) -> int:
    """Give the number of the disk that ``folder`` is on, or will be."""
    return _existing(folder).stat().st_dev
