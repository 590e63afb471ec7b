"""``nearside-export fixtures``: write the tests' tiny programs."""

from __future__ import annotations

import argparse
from pathlib import Path


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser."""
    parser = commands.add_parser("fixtures", help="write the tests' tiny programs")
    parser.add_argument("--out", type=Path, default=Path("models/fixtures"))
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    from nearside_export import fixtures

    fixtures.export(options.out, "nearside-export fixtures")
    print(f"{options.out}")
