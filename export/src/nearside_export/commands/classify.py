"""``nearside-export classify``: image classifiers."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

from nearside_export.commands import exports
from nearside_export.errors import UsageError
from nearside_export.wanted import read

CLASSIFIERS = ("efficientnet-lite0", "tiny-classifier")


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser."""
    classify = commands.add_parser("classify", help="export an image classifier")
    classify.add_argument(
        "model",
        help=f"one of: {', '.join(CLASSIFIERS)}; or a checkpoint (.pt, .pth, .safetensors) "
        "with --architecture",
    )
    exports.add_variants(classify, "classify")
    classify.add_argument("--architecture", help="of a checkpoint: a name above, or timm/NAME")
    classify.add_argument("--labels", type=Path, help="of a checkpoint: one class name a line")
    classify.add_argument("--licence", help="of a checkpoint: SPDX identifier")
    classify.add_argument(
        "--name", help="of a checkpoint: the package's name (default: the file's)"
    )
    exports.add_external_weights(classify)
    exports.add(classify)
    classify.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    if options.architecture is None:
        _refuse_checkpoint_options(options)
    names = exports.variants(options, "classify")
    # Imported late: torch takes seconds, and a typing error should not have to wait for it.
    from nearside_export.architectures import registry
    from nearside_export.plan import classify as plan
    from nearside_export.resume import identity
    from nearside_export.sources import checkpoint
    from nearside_export.tasks import classify

    content: Any = options.model
    if options.architecture is None:
        classifier = registry.classifier(options.model)
    else:
        classifier = checkpoint.open_checkpoint(
            Path(options.model),
            options.architecture,
            options.labels,
            options.licence,
            options.name,
        )
        content = [options.architecture, identity.files(Path(options.model), options.labels)]
    target = classify.package_path(classifier, options.out, names)
    if exports.planned(options, plan.plan(classifier, target, read(names, "classify"))):
        return
    classify.export_package(
        classifier,
        names,
        target,
        _command(options),
        exports.keeping(options, content),
        external_weights=options.external_weights,
        unmeasured=options.unmeasured,
        soc=options.soc,
    )
    exports.report(target)


def _refuse_checkpoint_options(options: argparse.Namespace) -> None:
    if options.model not in CLASSIFIERS:
        hint = ""
        if Path(options.model).exists():
            hint = "; for a checkpoint, name its network with --architecture"
        raise UsageError(f"unknown model {options.model!r}; known: {', '.join(CLASSIFIERS)}{hint}")
    for name in ("labels", "licence", "name"):
        if getattr(options, name) is not None:
            raise UsageError(f"--{name} is for checkpoints, which need --architecture")


def _command(options: argparse.Namespace) -> str:
    """Spell the command as anyone can repeat it: without this machine's folders."""
    words = ["nearside-export", "classify", Path(options.model).name]
    words += exports.words(options, {**exports.VARIANT_DEFAULTS, "external_weights": False})
    if options.architecture is not None:
        words += ["--architecture", options.architecture, "--labels", options.labels.name]
        words += ["--licence", options.licence]
        words += ["--name", options.name] if options.name is not None else []
    return shlex.join(words)
