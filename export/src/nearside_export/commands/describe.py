"""``nearside-export describe``: models that see and write."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from nearside_export.commands import stages
from nearside_export.commands.figures import describe_figures
from nearside_export.errors import UsageError

VARIANTS = ("fp32",)
ATTENTION = ("plain", "fused")


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser."""
    describe = commands.add_parser(
        "describe", help="export a model for pictures and text: Gemma 3, Gemma 3n"
    )
    describe.add_argument("source", type=Path, help="local Hugging Face folder")
    describe.add_argument("--variant", choices=VARIANTS, default="fp32")
    describe.add_argument("--context", type=int, help="positions in the KV cache (default: 1024)")
    describe.add_argument(
        "--max-prefill",
        type=int,
        help="rows a call at most (default: 128, or as many as an image has)",
    )
    describe.add_argument(
        "--attention",
        choices=ATTENTION,
        default="plain",
        help="operators of every runtime, or the Nearside runtime's own",
    )
    describe.add_argument("--licence", help="SPDX identifier, where the model states none")
    describe.add_argument("--name", help="the package's name (default: the folder's)")
    describe.add_argument(
        "--external-weights",
        action="store_true",
        help="weights in a .ptd file beside the program, which variants share",
    )
    describe.add_argument(
        "--out", type=Path, default=Path("models"), help="folder for the package (default: models)"
    )
    stages.add(describe)
    describe.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    for option, value in (("--context", options.context), ("--max-prefill", options.max_prefill)):
        if value is not None and value < 1:
            raise UsageError(f"{option} is {value}, but must be at least 1")
    from nearside_export import package
    from nearside_export.plan import describe as plan
    from nearside_export.sources import huggingface

    if not options.source.is_dir():
        raise UsageError(
            f"{options.source} is not a folder: `describe` takes a local Hugging Face folder"
        )
    package.licence_of(options.source.name, options.licence, huggingface.licence(options.source))
    name = options.name or options.source.resolve().name
    target = package.package_path(options.out, name, options.variant == "fp32")
    if stages.planned(options, plan.plan(options.source, target, options.attention)):
        return
    from nearside_export.manifest import Manifest
    from nearside_export.resume import identity
    from nearside_export.tasks import describe

    request = describe.Request(
        variant=options.variant,
        context_length=options.context,
        max_prefill_tokens=options.max_prefill,
        attention=options.attention,
        external_weights=options.external_weights,
        licence=options.licence,
        name=options.name,
    )
    target = describe.export_package(
        options.source,
        request,
        options.out,
        _command(options),
        stages.keeping(options, identity.files(options.source)),
    )
    print(f"{target}")
    for variant in Manifest.read(target).variants:
        print(
            f"  {variant.name}: {variant.bytes} bytes, coverage {variant.coverage:.4f}, "
            f"{describe_figures(variant.quality)}"
        )


def _command(options: argparse.Namespace) -> str:
    """Spell the command as anyone can repeat it: without this machine's folders."""
    words = ["nearside-export", "describe", options.source.name, "--variant", options.variant]
    for name, value in (("context", options.context), ("max-prefill", options.max_prefill)):
        if value is not None:
            words += [f"--{name}", str(value)]
    if options.attention != "plain":
        words += ["--attention", options.attention]
    if options.external_weights:
        words.append("--external-weights")
    for name in ("licence", "name"):
        if (value := getattr(options, name)) is not None:
            words += [f"--{name}", value]
    return shlex.join(words)
