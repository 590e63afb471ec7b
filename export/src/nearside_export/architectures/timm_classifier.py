"""Networks of PyPI's ``timm`` by name, with the picture that each was trained on."""

from __future__ import annotations

from typing import Any

import torch

from nearside_export.errors import UnsupportedError, UsageError
from nearside_export.image_spec import ImageSpec

PREFIX = "timm/"
FILTERS = {"bicubic": "bicubic_antialias", "bilinear": "bilinear_antialias", "nearest": "nearest"}
"""timm resizes with Pillow, whose filters widen when they shrink."""

FITS = {"center": "center_crop", "squash": "stretch"}


def build(name: str, classes: int) -> torch.nn.Module:
    """Build the network ``name`` (without ``timm/``) for ``classes`` classes, without weights."""
    timm = _timm()
    if not timm.is_model(name):
        raise UsageError(
            f"timm {timm.__version__} has no model {name!r}; `timm.list_models()` lists them"
        )
    try:
        # Never pretrained: that would download weights.
        return timm.create_model(name, pretrained=False, num_classes=classes)
    except Exception as error:
        raise UnsupportedError(f"timm can't build {name!r}: {error}") from error


def image_spec(model: torch.nn.Module, name: str) -> ImageSpec:
    """Size, fit, filter and normalisation of a network's pictures, from timm's data config."""
    from timm.data import resolve_model_data_config

    config: dict[str, Any] = resolve_model_data_config(model)
    channels, height, width = config["input_size"]
    if channels != 3:
        raise UnsupportedError(f"timm/{name} takes pictures of {channels} channels, not of 3")
    for field, value, known in (
        ("interpolation", config["interpolation"], FILTERS),
        ("crop_mode", config["crop_mode"], FITS),
    ):
        if value not in known:
            raise UnsupportedError(
                f"timm/{name} was trained with {field} {value!r}, which packages can't say; known: "
                f"{', '.join(known)}"
            )
    fit = FITS[config["crop_mode"]]
    return ImageSpec(
        width=width,
        height=height,
        fit=fit,
        crop_fraction=float(config["crop_pct"]) if fit == "center_crop" else 1.0,
        filter=FILTERS[config["interpolation"]],
        mean=tuple(config["mean"]),
        std=tuple(config["std"]),
    )


def _timm() -> Any:  # noqa: ANN401
    try:
        import timm
    except ImportError:
        raise UsageError("architectures of timm need it installed: pip install timm") from None
    return timm
