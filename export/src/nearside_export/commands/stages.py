"""Options that all exports share: what is said, what is kept, and whether anything is done."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nearside_export.plan.plan import Plan
    from nearside_export.resume.work import Keeping


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="say what it would take in time, memory and disk, and write nothing",
    )
    parser.add_argument("--quiet", action="store_true", help="say nothing but errors and results")
    parser.add_argument(
        "--work",
        type=Path,
        metavar="DIR",
        help="folder for results of stages, so that an interrupted export goes on from there "
        "(default: the user's cache folder)",
    )
    parser.add_argument(
        "--no-resume", action="store_true", help="begin anew, whatever an earlier export has left"
    )


def keeping(options: argparse.Namespace, source: Any) -> Keeping:  # noqa: ANN401
    """Where results of the stages go; ``source`` is the content that is exported."""
    from nearside_export.resume.work import Keeping

    return Keeping(_work(options), not options.no_resume, source)


def planned(options: argparse.Namespace, plan: Plan) -> bool:
    """Whether that was all: a dry run is printed; else `DiskError` where there is no room."""
    if options.dry_run:
        print(plan.text(_work(options)))
        return True
    plan.require_room(_work(options))
    return False


def _work(options: argparse.Namespace) -> Path:
    from nearside_export.resume import folder

    return options.work or folder.default()
