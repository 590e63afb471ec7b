"""The command line: ``nearside-export classify | verify | fixtures | media | operators``.

Exit codes: 0 done, 1 the work failed, 2 usage. Messages go to stderr.
"""

from __future__ import annotations

import argparse
import logging
import sys
import warnings
from pathlib import Path

from nearside_export.errors import ExportError, PackageError, UsageError
from nearside_export.manifest import ClassifyQuality

CLASSIFIERS = ("efficientnet-lite0", "tiny-classifier")
VARIANTS = ("int8", "fp32", "all")


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options = _parser().parse_args(arguments)
    # PyTorch's and ExecuTorch's own deprecation notes are nothing a user can act on.
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    try:
        options.run(options)
    except ExportError as error:
        print(f"nearside-export: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="nearside-export",
        description="PyTorch models to Nearside packages whose quality was measured.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    classify = commands.add_parser("classify", help="export an image classifier")
    classify.add_argument("model", help=f"one of: {', '.join(CLASSIFIERS)}")
    classify.add_argument("--variant", choices=VARIANTS, default="int8")
    classify.add_argument(
        "--out", type=Path, default=Path("models"), help="folder for the package (default: models)"
    )
    classify.set_defaults(run=_classify)

    verify = commands.add_parser(
        "verify", help="measure a package's quality again and compare it with its manifest"
    )
    verify.add_argument("package", type=Path, help="folder NAME.nearside")
    verify.set_defaults(run=_verify)

    fixtures = commands.add_parser("fixtures", help="write the tests' tiny programs")
    fixtures.add_argument("--out", type=Path, default=Path("models/fixtures"))
    fixtures.set_defaults(run=_fixtures)

    media = commands.add_parser("media", help="write the demo's photos and clip")
    media.add_argument("--out", type=Path, default=Path("models/media"))
    media.set_defaults(run=_media)

    operators = commands.add_parser(
        "operators", help="write the table of the kernels' signatures that the runtime checks with"
    )
    operators.add_argument(
        "--out", type=Path, default=Path("crates/runtime/src/operators/signatures.txt")
    )
    operators.set_defaults(run=_operators)
    return parser


def _classify(options: argparse.Namespace) -> None:
    if options.model not in CLASSIFIERS:
        raise UsageError(f"unknown model {options.model!r}; known: {', '.join(CLASSIFIERS)}")
    # Imported late: torch takes seconds, and a typing error should not have to wait for it.
    from nearside_export.architectures import registry
    from nearside_export.tasks import classify

    classifier = registry.classifier(options.model)
    schemes = ["int8", "fp32"] if options.variant == "all" else [options.variant]
    target = classify.package_path(classifier, options.out, options.variant)
    manifest = classify.export_package(classifier, schemes, target, _command(options))
    print(f"{target}")
    for variant in manifest.variants:
        print(
            f"  {variant.name}: {variant.program.bytes} bytes, coverage {variant.coverage:.4f}, "
            f"{_figures(variant.quality)}"
        )


def _verify(options: argparse.Namespace) -> None:
    from nearside_export.tasks import verify

    disagreements = []
    for comparison in verify.verify(options.package):
        print(f"{comparison.variant}:")
        for source, q in (("manifest", comparison.claimed), ("measured", comparison.measured)):
            print(f"  {source}: {_figures(q)}")
        disagreements += [f"{comparison.variant}: {d}" for d in comparison.differences()]
    if disagreements:
        raise PackageError(
            f"{options.package} is not as good as its manifest says: {'; '.join(disagreements)}. "
            "Export it again"
        )


def _fixtures(options: argparse.Namespace) -> None:
    from nearside_export import fixtures

    fixtures.export(options.out, "nearside-export fixtures")
    print(f"{options.out}")


def _media(options: argparse.Namespace) -> None:
    from nearside_export import media

    media.export(options.out)
    print(f"{options.out}")


def _operators(options: argparse.Namespace) -> None:
    from nearside_export import operators

    operators.write(options.out)
    print(f"{options.out}")


def _figures(q: ClassifyQuality) -> str:
    return (
        f"top-1 agreement {q.top1_agreement:.4f} on {q.images} pictures, "
        f"logit RMSE {q.logit_rmse:.4f}, SQNR {q.logit_sqnr_db:.2f} dB"
    )


def _command(options: argparse.Namespace) -> str:
    """Spell the command as anyone can repeat it: without this machine's output folder."""
    variant = "" if options.variant == "int8" else f" --variant {options.variant}"
    return f"nearside-export classify {options.model}{variant}"
