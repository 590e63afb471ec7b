"""Which layers slide: the configuration's ``layer_types``."""

from __future__ import annotations

from nearside_export.errors import SourceError, UnsupportedError
from nearside_export.sources.fields import Fields

SLIDING = "sliding_attention"
FULL = "full_attention"


def windows(config: Fields, count: int, window: int, usual: list[int]) -> list[int]:
    """Window of each of ``count`` layers, 0 for full attention.

    ``window`` is the model's (0: it has none), ``usual`` what holds without ``layer_types``.
    """
    types = config.texts("layer_types", None)
    if types is None:
        return usual
    if len(types) != count:
        raise SourceError(
            f"{config.name('layer_types')} has {len(types)} entries for {count} layers. "
            "Correct the file or fetch it again"
        )
    for kind in types:
        if kind not in (SLIDING, FULL):
            raise UnsupportedError(
                f"{config.name('layer_types')} has {kind!r}, which can't be exported; "
                f"known: {FULL}, {SLIDING}"
            )
    if SLIDING in types and not window:
        raise SourceError(
            f"{config.name('layer_types')} has sliding layers, but there is no sliding_window. "
            "Correct the file or fetch it again"
        )
    return [window if kind == SLIDING else 0 for kind in types]
