"""``nearside-export operators``: write the table of the kernels' signatures."""

from __future__ import annotations

import argparse
from pathlib import Path


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser."""
    parser = commands.add_parser(
        "operators", help="write the table of the kernels' signatures that the runtime checks with"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("crates/runtime/src/operators/signatures.txt")
    )
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    from nearside_export import operators

    operators.write(options.out)
    print(f"{options.out}")
