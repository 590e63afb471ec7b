"""``nearside-export classify``: image classifiers."""

from __future__ import annotations

import argparse
from pathlib import Path

from nearside_export.commands.figures import classify_figures
from nearside_export.errors import UsageError

CLASSIFIERS = ("efficientnet-lite0", "tiny-classifier")
VARIANTS = ("int8", "fp32", "all")


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser."""
    classify = commands.add_parser("classify", help="export an image classifier")
    classify.add_argument("model", help=f"one of: {', '.join(CLASSIFIERS)}")
    classify.add_argument("--variant", choices=VARIANTS, default="int8")
    classify.add_argument(
        "--out", type=Path, default=Path("models"), help="folder for the package (default: models)"
    )
    classify.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
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
            f"{classify_figures(variant.quality)}"
        )


def _command(options: argparse.Namespace) -> str:
    """Spell the command as anyone can repeat it: without this machine's output folder."""
    variant = "" if options.variant == "int8" else f" --variant {options.variant}"
    return f"nearside-export classify {options.model}{variant}"
