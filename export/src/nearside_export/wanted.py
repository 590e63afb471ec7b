"""Variants that are asked for: each a delegate and a scheme, such as ``coreml-fp16``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nearside_export.errors import UsageError
from nearside_export.lower.delegates import DELEGATES, USUAL, Delegate

ALL = "all"


@dataclass(frozen=True)
class Wanted:
    """A variant to be made."""

    delegate: Delegate
    scheme: str

    @property
    def name(self) -> str:
        """Delegate and scheme: the variant's name in the manifest."""
        return f"{self.delegate.name}-{self.scheme}"


def read(names: Iterable[str], task: str) -> tuple[Wanted, ...]:
    """Read names such as ``int8``, which is XNNPACK's, or ``coreml-fp16``; each once.

    `UsageError` says which there are, and what a delegate can hold.
    """
    found: dict[str, Wanted] = {}
    for name in names:
        first, scheme = _split(name)
        delegate = DELEGATES[first or USUAL]
        held = holds(delegate, task)
        if scheme not in held:
            raise UsageError(_not_held(delegate, scheme, held))
        wanted = Wanted(delegate, scheme)
        found[wanted.name] = wanted
    if not found:
        raise UsageError("no variant is asked for")
    return tuple(found.values())


def choose(variants: str | None, delegates: str, task: str) -> tuple[str, ...]:
    """Give the names that ``--variant`` and ``--delegate`` stand for, both lists with commas.

    Without variants it is what the task usually has, or the delegate where it can't hold that;
    ``all`` is all that each delegate holds. A name that begins with a delegate stands for itself.
    """
    chosen = [_delegate(name) for name in _items(delegates, "--delegate")]
    names: list[str] = []
    if variants is None:
        usual = holds(DELEGATES[USUAL], task)[0]
        for delegate in chosen:
            held = holds(delegate, task)
            names.append(f"{delegate.name}-{usual if usual in held else held[0]}")
    else:
        for item in _items(variants, "--variant"):
            if item == ALL:
                names += [f"{d.name}-{scheme}" for d in chosen for scheme in holds(d, task)]
            elif _split(item)[0]:
                names.append(item)
            else:
                names += [f"{d.name}-{item}" for d in chosen]
    return tuple(wanted.name for wanted in read(names, task))


def holds(delegate: Delegate, task: str) -> tuple[str, ...]:
    """Schemes of ``task`` that ``delegate`` holds; `UsageError` where there are none."""
    if task not in delegate.schemes:
        raise UsageError(
            f"{delegate.name} can't hold models of `{task}`: {delegate.refuses}. It holds models "
            f"of {', '.join(delegate.schemes)}; use --delegate {USUAL}"
        )
    return delegate.schemes[task]


def _split(name: str) -> tuple[str, str]:
    """Delegate, empty where the name begins with none, and scheme."""
    first, _, rest = name.partition("-")
    return (first, rest) if first in DELEGATES and rest else ("", name)


def _delegate(name: str) -> Delegate:
    if name not in DELEGATES:
        raise UsageError(f"unknown delegate {name!r}; known: {', '.join(DELEGATES)}")
    return DELEGATES[name]


def _items(text: str, option: str) -> list[str]:
    items = [item.strip() for item in text.split(",")]
    if not all(items):
        raise UsageError(f"{option} {text!r} has a name missing between its commas")
    return items


def _not_held(delegate: Delegate, scheme: str, held: tuple[str, ...]) -> str:
    if delegate.name == USUAL:
        return f"unknown variant {scheme!r}; known: {', '.join(held)}"
    return f"{delegate.name} can't hold the variant {scheme!r}; it holds: {', '.join(held)}"
