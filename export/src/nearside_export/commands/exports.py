"""What all export commands share: options, the words of a manifest's command, and the result."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearside_export import wanted
from nearside_export.commands.figures import variant_figures
from nearside_export.errors import UsageError
from nearside_export.lower.delegates import DELEGATES, USUAL
from nearside_export.quantise.choices import GROUP_SIZES, ROUNDINGS

if TYPE_CHECKING:
    from nearside_export.plan.plan import Plan
    from nearside_export.resume.work import Keeping

EMBEDDING_BITS = (8, 4)


def add(parser: argparse.ArgumentParser) -> None:
    """Add where the package goes, what is said, what is kept, and whether anything is done."""
    parser.add_argument(
        "--out", type=Path, default=Path("models"), help="folder for the package (default: models)"
    )
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


def add_named(parser: argparse.ArgumentParser) -> None:
    """Add what the source states, unless it is given."""
    parser.add_argument("--licence", help="SPDX identifier, where the model states none")
    parser.add_argument("--name", help="the package's name (default: the source's)")


def add_variants(parser: argparse.ArgumentParser, task: str) -> None:
    """Add which variants are made, and for which delegates."""
    schemes = DELEGATES[USUAL].schemes[task]
    parser.add_argument(
        "--variant",
        metavar="NAMES",
        help=f"one or more of {', '.join(schemes)} with commas between them, or all: variants of "
        f"one package (default: {schemes[0]}, or what the delegate usually holds). A name may have "
        f"its delegate: {USUAL}-{schemes[0]}",
    )
    parser.add_argument(
        "--delegate",
        metavar="NAMES",
        default=USUAL,
        help=f"who runs them: one or more of {', '.join(DELEGATES)} (default: {USUAL})",
    )
    parser.add_argument("--soc", help="--delegate qnn: the chip to compile for, such as SM8650")
    parser.add_argument(
        "--unmeasured",
        action="store_true",
        help="also make variants that don't run on this machine, whose quality can't be measured",
    )


def variants(options: argparse.Namespace, task: str) -> tuple[str, ...]:
    """Name the variants that are asked for, such as ``xnnpack-int8``.

    `UsageError` and `LibraryError` for what can't be made (see `tasks.preflight`).
    """
    from nearside_export.tasks import preflight

    names = wanted.choose(options.variant, options.delegate, task)
    preflight.check(
        wanted.read(names, task),
        soc=options.soc,
        external_weights=getattr(options, "external_weights", False),
        unmeasured=options.unmeasured,
    )
    return names


VARIANT_DEFAULTS = {
    "variant": None,
    "delegate": USUAL,
    "soc": None,
    "unmeasured": False,
}
"""Of the options of `add_variants`, for `words`."""


def add_rounding(parser: argparse.ArgumentParser) -> None:
    """Add how a decoder's weights become integers."""
    parser.add_argument(
        "--group-size",
        type=int,
        choices=GROUP_SIZES,
        default=GROUP_SIZES[0],
        help=f"8da4w: weights that share a scale (default: {GROUP_SIZES[0]})",
    )
    parser.add_argument(
        "--rounding",
        choices=ROUNDINGS,
        default=ROUNDINGS[0],
        help="8da4w: how weights are rounded (default: as a GGUF file has them, else what predicts "
        "best; the asymmetric ways take 4 bytes more a group)",
    )
    parser.add_argument(
        "--embedding-bits",
        type=int,
        choices=EMBEDDING_BITS,
        default=EMBEDDING_BITS[0],
        help="all but fp32: bits of the embedding table; of the head too where the two are one "
        f"(default: {EMBEDDING_BITS[0]})",
    )


ROUNDING_DEFAULTS = {
    "group_size": GROUP_SIZES[0],
    "rounding": ROUNDINGS[0],
    "embedding_bits": EMBEDDING_BITS[0],
}
"""Of the options of `add_rounding`, for `words`."""


def add_external_weights(parser: argparse.ArgumentParser) -> None:
    """Add where the weights go."""
    parser.add_argument(
        "--external-weights",
        action="store_true",
        help="weights in a .ptd file beside the program, which variants share",
    )


def add_attention(parser: argparse.ArgumentParser) -> None:
    """Add what a decoder's attention is made of."""
    parser.add_argument(
        "--attention",
        choices=("plain", "fused"),
        default="plain",
        help="operators of every runtime, or the Nearside runtime's own",
    )


def check_lengths(options: argparse.Namespace) -> None:
    """`UsageError` for a context or prefill of nothing."""
    for option, value in (("--context", options.context), ("--max-prefill", options.max_prefill)):
        if value is not None and value < 1:
            raise UsageError(f"{option} is {value}, but must be at least 1")


def words(options: argparse.Namespace, defaults: dict[str, Any]) -> list[str]:
    """Spell the options of ``defaults`` that are not as they are by default."""
    found = []
    for name, default in defaults.items():
        if (value := getattr(options, name)) != default:
            option = f"--{name.replace('_', '-')}"
            found += [option] if value is True else [option, str(value)]
    return found


def report(target: Path) -> None:
    """Print where the package is, and what of each variant was measured."""
    from nearside_export.manifest import Manifest

    print(f"{target}")
    for variant in Manifest.read(target).variants:
        print(
            f"  {variant.name}: {variant.bytes} bytes, coverage {variant.coverage:.4f}, "
            f"{variant_figures(variant)}"
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
