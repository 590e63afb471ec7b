"""The known classifiers by name."""

from __future__ import annotations

from nearside_export.architectures.classifier import Classifier
from nearside_export.architectures.efficientnet_lite0 import EFFICIENTNET_LITE0
from nearside_export.architectures.tiny_colour import TINY_COLOUR
from nearside_export.errors import UsageError

CLASSIFIERS = {c.name: c for c in (EFFICIENTNET_LITE0, TINY_COLOUR)}


def classifier(name: str) -> Classifier:
    """Look a classifier up; `UsageError` lists those that exist."""
    try:
        return CLASSIFIERS[name]
    except KeyError:
        known = ", ".join(CLASSIFIERS)
        raise UsageError(f"unknown model {name!r}; known: {known}") from None
