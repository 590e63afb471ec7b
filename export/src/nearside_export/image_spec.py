"""What the model expects of a picture: the manifest's ``image`` object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

FITS = ("stretch", "letterbox", "center_crop")
FILTERS = ("nearest", "bilinear", "bilinear_antialias", "bicubic_antialias", "area")
LAYOUTS = ("nchw", "nhwc")
CHANNELS = ("rgb", "bgr")


@dataclass(frozen=True)
class ImageSpec:
    """Size, fit, filter, normalisation and layout of the model's input.

    ``width`` and ``height`` in pixels. ``crop_fraction`` (``center_crop`` only) is the share of
    the shorter side that is kept, timm's ``crop_pct``. ``pad`` (``letterbox`` only) is an RGB
    colour 0..255. ``mean`` and ``std`` are RGB, on values scaled to 0..1:
    ``(v / 255 - mean) / std``. The tensor is f32 ``[1, 3, height, width]`` (``nchw``) or
    ``[1, height, width, 3]`` (``nhwc``), its colours in the order of ``channels``.
    """

    width: int
    height: int
    fit: str = "center_crop"
    crop_fraction: float = 1.0
    pad: tuple[int, int, int] = (0, 0, 0)
    filter: str = "bilinear_antialias"
    mean: tuple[float, float, float] = (0.0, 0.0, 0.0)
    std: tuple[float, float, float] = (1.0, 1.0, 1.0)
    layout: str = "nchw"
    channels: str = "rgb"

    def __post_init__(self) -> None:
        if self.width < 1 or self.height < 1:
            raise ValueError(f"image size {self.width}x{self.height} must be at least 1x1")
        _one_of("fit", self.fit, FITS)
        _one_of("filter", self.filter, FILTERS)
        _one_of("layout", self.layout, LAYOUTS)
        _one_of("channels", self.channels, CHANNELS)
        if not 0.0 < self.crop_fraction <= 1.0:
            raise ValueError(f"crop_fraction {self.crop_fraction} must be above 0, at most 1")
        if any(s <= 0.0 for s in self.std):
            raise ValueError(f"std {self.std} must be positive")

    @classmethod
    def from_dict(cls, raw: dict[str, Any]) -> ImageSpec:
        """Build from the manifest's JSON object; unknown fields are a `TypeError`."""
        raw = dict(raw)
        for name in ("pad", "mean", "std"):
            if name in raw:
                raw[name] = tuple(raw[name])
        return cls(**raw)


def _one_of(field: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{field} {value!r} must be one of {', '.join(allowed)}")
