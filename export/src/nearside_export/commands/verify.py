"""``nearside-export verify``: measure a package again and compare it with its manifest."""

from __future__ import annotations

import argparse
from pathlib import Path

from nearside_export.commands.figures import figures
from nearside_export.errors import PackageError


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser."""
    verify = commands.add_parser(
        "verify", help="measure a package's quality again and compare it with its manifest"
    )
    verify.add_argument("package", type=Path, help="folder NAME.nearside")
    verify.add_argument(
        "--source",
        type=Path,
        help="the fp32 model that it was made from, where that is not known by name: a model "
        "folder, for the task generate also a .gguf file, for classify a checkpoint",
    )
    verify.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    from nearside_export.tasks import verify

    disagreements = []
    for comparison in verify.verify(options.package, options.source):
        print(f"{comparison.variant}:")
        for source, q in (("manifest", comparison.claimed), ("measured", comparison.measured)):
            print(f"  {source}: {figures(q)}")
        disagreements += [f"{comparison.variant}: {d}" for d in comparison.differences()]
    if disagreements:
        raise PackageError(
            f"{options.package} is not as good as its manifest says: {'; '.join(disagreements)}. "
            "Export it again"
        )
