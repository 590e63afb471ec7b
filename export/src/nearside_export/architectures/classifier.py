"""What the exporter must know about a classifier."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from nearside_export.image_spec import ImageSpec
from nearside_export.manifest import ClassifyGate


@dataclass(frozen=True)
class Classifier:
    """An image classifier: f32 ``[1, 3, height, width]`` to logits f32 ``[1, len(labels)]``.

    ``load`` builds the module in eval mode with its weights; ``labels`` gives the class names in
    the order of the logits; ``gates`` maps a variant name to its quality gate. ``build`` gives the
    network without weights for that many classes, for checkpoints of other people's.
    ``float_modules`` are names of modules that int8 leaves in float.
    """

    name: str
    licence: str
    source: str
    image: ImageSpec
    load: Callable[[], torch.nn.Module]
    labels: Callable[[], list[str]]
    gates: dict[str, ClassifyGate]
    build: Callable[[int], torch.nn.Module] | None = None
    float_modules: tuple[str, ...] = ()
