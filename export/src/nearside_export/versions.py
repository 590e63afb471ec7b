"""Versions of what an export is made with."""

from __future__ import annotations

import importlib.metadata


def installed(package: str) -> str:
    """Version of an installed package, without a local part such as ``+cu130``.

    The program does not depend on that part.
    """
    return importlib.metadata.version(package).split("+")[0]
