"""The families by the architecture that a configuration states."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from nearside_export.architectures.multimodal import gemma3, gemma3n
from nearside_export.architectures.multimodal.model import Multimodal
from nearside_export.errors import UnsupportedError
from nearside_export.sources.fields import Fields

FAMILIES: dict[str, Callable[[Path, Fields, int, str], Multimodal]] = {
    gemma3.ARCHITECTURE: gemma3.load,
    gemma3n.ARCHITECTURE: gemma3n.load,
}


def loader(config: Fields) -> Callable[[Path, Fields, int, str], Multimodal]:
    """Find what loads a model; `UnsupportedError` says which architectures there are."""
    stated = config.texts("architectures")
    for name in stated:
        if name in FAMILIES:
            return FAMILIES[name]
    raise UnsupportedError(
        f"{config.name('architectures')} is {', '.join(stated)}, which `describe` can't export; "
        f"known: {', '.join(FAMILIES)}"
    )
