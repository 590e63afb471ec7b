"""``nearside-export generate``: language models."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from nearside_export.commands import exports
from nearside_export.errors import UsageError
from nearside_export.quantise.choices import CACHES, USUAL_CACHE
from nearside_export.wanted import read

METHODS = ("forward", "prefill,decode")
MAX_PREFILL = 128


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser."""
    generate = commands.add_parser(
        "generate", help="export a language model: a Hugging Face folder or a GGUF file"
    )
    generate.add_argument("source", type=Path, help="local model folder, or .gguf file")
    exports.add_variants(generate, "generate")
    generate.add_argument(
        "--context", type=int, help="positions in the KV cache (default: 1024, or the model's)"
    )
    generate.add_argument(
        "--max-prefill",
        type=int,
        default=MAX_PREFILL,
        help=f"tokens a call at most; longer prompts go in chunks (default: {MAX_PREFILL})",
    )
    exports.add_rounding(generate)
    generate.add_argument(
        "--methods",
        choices=METHODS,
        type=lambda text: text.replace(" ", ""),
        metavar=" | ".join(METHODS),
        default=METHODS[0],
        help="one method for any number of tokens, or one for several and one for a single token, "
        f"over one KV cache (default: {METHODS[0]})",
    )
    exports.add_attention(generate)
    generate.add_argument(
        "--cache",
        choices=CACHES,
        help="--delegate nearside: what keys and values are kept as: fewer bits are read faster "
        f"where the context is long (default: {USUAL_CACHE})",
    )
    exports.add_named(generate)
    exports.add_external_weights(generate)
    exports.add(generate)
    generate.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    exports.check_lengths(options)
    names = exports.variants(options, "generate")
    from nearside_export import package
    from nearside_export.plan import generate as plan
    from nearside_export.sources.language import open_source

    source = open_source(options.source)
    package.licence_of(source.origin, options.licence, source.licence)
    name = package.clean_name(options.name or source.name)
    wanted = read(names, "generate")
    if options.cache is not None and not any(variant.delegate.own for variant in wanted):
        raise UsageError(
            "--cache is for --delegate nearside: other programs keep keys and values as f32"
        )
    target = package.package_path(options.out, name, [v.scheme for v in wanted])
    package.refuse_dropping(target, [v.name for v in wanted])
    planned = plan.plan(
        source,
        target,
        wanted,
        options.context,
        options.group_size,
        options.rounding,
        options.attention,
        options.methods,
        options.embedding_bits,
    )
    if exports.planned(options, planned):
        return
    # Imported late: torch takes seconds, and a dry run does without.
    from nearside_export.resume import identity
    from nearside_export.tasks import generate

    request = generate.Request(
        variants=names,
        context_length=options.context,
        max_prefill_tokens=options.max_prefill,
        group_size=options.group_size,
        rounding=options.rounding,
        embedding_bits=options.embedding_bits,
        attention=options.attention,
        cache=options.cache or USUAL_CACHE,
        methods=options.methods,
        external_weights=options.external_weights,
        unmeasured=options.unmeasured,
        licence=options.licence,
        name=options.name,
    )
    target = generate.export_package(
        source,
        request,
        options.out,
        _command(options),
        exports.keeping(options, identity.files(options.source)),
    )
    exports.report(target)


def _command(options: argparse.Namespace) -> str:
    """Spell the command as anyone can repeat it: without this machine's folders."""
    words = ["nearside-export", "generate", options.source.name]
    defaults = {
        **exports.VARIANT_DEFAULTS,
        "context": None,
        "max_prefill": MAX_PREFILL,
        **exports.ROUNDING_DEFAULTS,
        "attention": "plain",
        "cache": None,
        "methods": METHODS[0],
        "external_weights": False,
        "licence": None,
        "name": None,
    }
    return shlex.join(words + exports.words(options, defaults))
