"""``nearside-export describe``: models that see and write."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from nearside_export.commands import exports
from nearside_export.errors import UsageError
from nearside_export.wanted import read


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser."""
    describe = commands.add_parser(
        "describe", help="export a model for pictures and text: Gemma 3, Gemma 3n"
    )
    describe.add_argument("source", type=Path, help="local Hugging Face folder")
    exports.add_variants(describe, "describe")
    describe.add_argument("--context", type=int, help="positions in the KV cache (default: 1024)")
    describe.add_argument(
        "--max-prefill",
        type=int,
        help="rows a call at most (default: 128, or as many as an image has)",
    )
    exports.add_rounding(describe)
    exports.add_attention(describe)
    exports.add_named(describe)
    exports.add_external_weights(describe)
    exports.add(describe)
    describe.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    exports.check_lengths(options)
    names = exports.variants(options, "describe")
    from nearside_export import package
    from nearside_export.plan import describe as plan
    from nearside_export.sources import huggingface

    if not options.source.is_dir():
        raise UsageError(
            f"{options.source} is not a folder: `describe` takes a local Hugging Face folder"
        )
    package.licence_of(options.source.name, options.licence, huggingface.licence(options.source))
    name = package.clean_name(options.name or options.source.resolve().name)
    wanted = read(names, "describe")
    target = package.package_path(options.out, name, [v.scheme for v in wanted])
    package.refuse_dropping(target, [v.name for v in wanted])
    planned = plan.plan(
        options.source,
        target,
        wanted,
        options.attention,
        options.group_size,
        options.rounding,
        options.embedding_bits,
        options.context,
    )
    if exports.planned(options, planned):
        return
    from nearside_export.resume import identity
    from nearside_export.tasks import describe

    request = describe.Request(
        variants=names,
        group_size=options.group_size,
        rounding=options.rounding,
        embedding_bits=options.embedding_bits,
        context_length=options.context,
        max_prefill_tokens=options.max_prefill,
        attention=options.attention,
        external_weights=options.external_weights,
        unmeasured=options.unmeasured,
        licence=options.licence,
        name=options.name,
    )
    target = describe.export_package(
        options.source,
        request,
        options.out,
        _command(options),
        exports.keeping(options, identity.files(options.source)),
    )
    exports.report(target)


def _command(options: argparse.Namespace) -> str:
    """Spell the command as anyone can repeat it: without this machine's folders."""
    words = ["nearside-export", "describe", options.source.name]
    defaults = {
        **exports.VARIANT_DEFAULTS,
        "context": None,
        "max_prefill": None,
        **exports.ROUNDING_DEFAULTS,
        "attention": "plain",
        "external_weights": False,
        "licence": None,
        "name": None,
    }
    return shlex.join(words + exports.words(options, defaults))
