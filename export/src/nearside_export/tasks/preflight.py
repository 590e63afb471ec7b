"""What is known of variants before any work: what they need, and whether they run here."""

from __future__ import annotations

from collections.abc import Sequence

from nearside_export.errors import UsageError
from nearside_export.lower import requirements
from nearside_export.lower.delegates import USUAL, Delegate
from nearside_export.wanted import Wanted


def check(
    variants: Sequence[Wanted],
    *,
    soc: str | None = None,
    external_weights: bool = False,
    unmeasured: bool = False,
) -> dict[str, str]:
    """Say by name of each variant whose quality can't be measured on this machine why not.

    `LibraryError` where a delegate's packages are missing; `UsageError` unless ``unmeasured``
    allows such variants, and for ``external_weights`` or ``soc`` that no delegate can use.
    """
    delegates = {v.delegate.name: v.delegate for v in variants}
    if soc is not None and "qnn" not in delegates:
        raise UsageError("--soc is for --delegate qnn")
    for delegate in delegates.values():
        if external_weights and not delegate.weights_outside:
            raise UsageError(
                f"--external-weights: {delegate.name} keeps weights in its part of the program, "
                "and can't have them in a file that others share. Leave it out"
            )
        requirements.require(delegate.name, soc)
    reasons = {v.name: reason for v in variants if (reason := _reason(v.delegate))}
    if reasons and not unmeasured:
        name, reason = next(iter(reasons.items()))
        raise UsageError(
            f"the quality of {name} can't be measured here: {reason}. Give --unmeasured to export "
            "it all the same; the manifest then says that nobody knows its quality, and why"
        )
    return reasons


def _reason(delegate: Delegate) -> str | None:
    if delegate.never_measured:
        return delegate.never_measured
    if delegate.backend is None or delegate.name == USUAL:
        return None
    # Imported late: a dry run of the usual delegates does without ExecuTorch.
    from nearside_export.runtime import wheel

    if wheel.has(delegate.backend):
        return None
    return f"ExecuTorch's runtime has no {delegate.backend} on this machine"
