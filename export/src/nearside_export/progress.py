"""What an export says while it works: lines on stderr."""

from __future__ import annotations

import sys


def say(message: str) -> None:
    """Print ``message`` at once."""
    print(message, file=sys.stderr, flush=True)
