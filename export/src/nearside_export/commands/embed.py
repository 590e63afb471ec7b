"""``nearside-export embed``: text encoders."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearside_export.commands import exports
from nearside_export.wanted import read

if TYPE_CHECKING:
    from nearside_export.sources.sentence_transformers import EmbedderSource

KNOWN = ("all-minilm-l6-v2",)


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parser."""
    embed = commands.add_parser(
        "embed", help="export a text encoder: a sentence-transformers folder, or one by name"
    )
    embed.add_argument("source", help=f"local model folder, or one of: {', '.join(KNOWN)}")
    exports.add_variants(embed, "embed")
    embed.add_argument(
        "--embedding-bits",
        type=int,
        choices=exports.EMBEDDING_BITS,
        default=exports.EMBEDDING_BITS[0],
        help=f"of the embedding table beside int8 layers (default: {exports.EMBEDDING_BITS[0]})",
    )
    embed.add_argument(
        "--max-tokens", type=int, help="tokens a text at most (default: as the model says)"
    )
    exports.add_named(embed)
    exports.add_external_weights(embed)
    exports.add(embed)
    embed.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    names = exports.variants(options, "embed")
    source = open_source(options.source)
    from nearside_export import package
    from nearside_export.plan import embed as plan

    wanted = read(names, "embed")
    package.licence_of(source.origin, options.licence, source.licence)
    name = package.clean_name(options.name or source.name)
    target = package.package_path(options.out, name, [v.scheme for v in wanted])
    if exports.planned(
        options, plan.plan(source, target, wanted, options.embedding_bits, options.max_tokens)
    ):
        return
    # Imported late: torch takes seconds, and a dry run does without.
    from nearside_export.tasks import embed

    request = embed.Request(
        variants=names,
        embedding_bits=options.embedding_bits,
        max_tokens=options.max_tokens,
        external_weights=options.external_weights,
        unmeasured=options.unmeasured,
        licence=options.licence,
        name=options.name,
    )
    target = embed.export_package(
        source,
        request,
        options.out,
        _command(options),
        exports.keeping(options, content(options.source)),
    )
    exports.report(target)


def open_source(source: str) -> EmbedderSource:
    """Open a folder, or a model by name where there is no such folder."""
    from nearside_export.sources import known, sentence_transformers

    if source in KNOWN and not Path(source).exists():
        return known.embedder(source)
    return sentence_transformers.open_folder(Path(source))


def content(source: str) -> Any:  # noqa: ANN401
    """Tell what is exported, for `resume.identity.key`."""
    from nearside_export.resume import identity

    if source in KNOWN and not Path(source).exists():
        return source  # Its weights are pinned by their hash.
    return identity.files(Path(source))


def _command(options: argparse.Namespace) -> str:
    """Spell the command as anyone can repeat it: without this machine's folders."""
    words = ["nearside-export", "embed", Path(options.source).name]
    defaults = {
        **exports.VARIANT_DEFAULTS,
        "embedding_bits": exports.EMBEDDING_BITS[0],
        "max_tokens": None,
        "external_weights": False,
        "licence": None,
        "name": None,
    }
    return shlex.join(words + exports.words(options, defaults))
