"""``nearside-export media``: write the demo's photos and clip."""

from __future__ import annotations

import argparse
from pathlib import Path


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser."""
    parser = commands.add_parser("media", help="write the demo's photos and clip")
    parser.add_argument("--out", type=Path, default=Path("models/media"))
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    from nearside_export import media

    media.export(options.out)
    print(f"{options.out}")
