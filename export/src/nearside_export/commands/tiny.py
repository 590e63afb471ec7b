"""``nearside-export tiny``: write a tiny model with random weights, to try exports with."""

from __future__ import annotations

import argparse
from pathlib import Path


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser."""
    tiny = commands.add_parser("tiny", help="write a tiny model with seeded random weights")
    tiny.add_argument("family", help="llama, qwen3, gemma3-text, …; an unknown one lists them all")
    tiny.add_argument("--out", type=Path, required=True, help="folder to make")
    tiny.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    from nearside_export.recipes import registry

    registry.write(options.family, options.out)
    print(f"{options.out}")
