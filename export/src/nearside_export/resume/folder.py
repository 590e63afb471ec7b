"""Where kept results are, and what goes when: a folder an export, named by its `identity.key`.

A folder is locked while its export runs. Others go when nobody has touched them for `MAX_AGE`, and
the oldest of them as soon as all together have more than `MAX_BYTES`.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MAX_AGE = 14 * 24 * 3600.0
"""Seconds."""
MAX_BYTES = 16 << 30

_KEY = re.compile(r"[0-9a-f]{32}")


def default() -> Path:
    """Folder for kept results, where the platform has its caches."""
    if sys.platform == "darwin":
        caches = Path.home() / "Library" / "Caches"
    else:
        caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return caches / "nearside" / "export-work"


@contextmanager
def locked(root: Path, key: str) -> Iterator[Path | None]:
    """Make and lock the folder ``key``; null while another export has it.

    `OSError` where ``root`` can't be written.
    """
    place = root / key
    place.mkdir(parents=True, exist_ok=True)
    handle = os.open(place, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
            return
        os.utime(place)
        clean(root, key)
        yield place
    finally:
        os.close(handle)


def clean(root: Path, used: str) -> None:
    """Remove what is too old or too much; never ``used``, nor what another export has locked."""
    others = [p for p in root.iterdir() if _KEY.fullmatch(p.name) and p.name != used]
    room, now = MAX_BYTES, time.time()
    for place in sorted(others, key=_changed, reverse=True):
        room -= _bytes(place)
        if room < 0 or now - _changed(place) > MAX_AGE:
            _remove(place)


def _remove(place: Path) -> None:
    try:
        handle = os.open(place, os.O_RDONLY)
    except OSError:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(place, ignore_errors=True)
    except BlockingIOError:
        pass
    finally:
        os.close(handle)


def _changed(place: Path) -> float:
    try:
        return place.stat().st_mtime
    except OSError:
        return 0.0


def _bytes(place: Path) -> int:
    try:
        return sum(p.stat().st_size for p in place.iterdir())
    except OSError:
        return 0
