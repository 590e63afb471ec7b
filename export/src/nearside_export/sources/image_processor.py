"""What a Hugging Face image processor does to a picture, as our image spec."""

from __future__ import annotations

from pathlib import Path

from nearside_export.errors import SourceError, UnsupportedError
from nearside_export.image_spec import ImageSpec
from nearside_export.sources.fields import Fields

FILE = "preprocessor_config.json"
_NESTED = "processor_config.json"

FILTERS = {0: "nearest", 2: "bilinear_antialias", 3: "bicubic_antialias"}
"""Pillow's numbers, by which processors name filters."""

_BYTE = 1 / 255


def read(folder: Path) -> ImageSpec:
    """Read the processor of a model folder.

    `SourceError` for a field that is missing or malformed, `UnsupportedError` for a step that the
    image spec has no word for.
    """
    processor = _open(folder)
    processor.refuse("do_pan_and_scan", "pictures in several crops can't be exported")
    processor.refuse("do_center_crop", "this family's pictures are stretched, not cropped")
    processor.refuse("do_pad", "this family's pictures are stretched, not padded")
    if not processor.boolean("do_resize", True):
        raise UnsupportedError(
            f"{processor.name('do_resize')} is false, but a program takes pictures of one size"
        )
    if not processor.boolean("do_rescale", True):
        raise UnsupportedError(f"{processor.name('do_rescale')} is false, which can't be exported")
    factor = processor.number("rescale_factor", _BYTE)
    if abs(factor - _BYTE) > 1e-9:
        raise UnsupportedError(
            f"{processor.name('rescale_factor')} is {factor}, but only 1/255 can be exported"
        )
    size = processor.child("size")
    resample = processor.integer("resample", minimum=0)
    if resample not in FILTERS:
        known = ", ".join(f"{number} ({name})" for number, name in FILTERS.items())
        raise UnsupportedError(
            f"{processor.name('resample')} is {resample}, which can't be exported; known: {known}"
        )
    mean, std = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
    if processor.boolean("do_normalize"):
        mean, std = _colour(processor, "image_mean"), _colour(processor, "image_std")
        if min(std) <= 0.0:
            raise SourceError(f"{processor.name('image_std')} must be above 0, but is {list(std)}")
    return ImageSpec(
        width=size.integer("width"),
        height=size.integer("height"),
        fit="stretch",
        filter=FILTERS[resample],
        mean=mean,
        std=std,
    )


def _open(folder: Path) -> Fields:
    nested = folder / _NESTED
    if not (folder / FILE).exists() and nested.exists():
        return Fields.read(nested).child("image_processor")
    return Fields.read(folder / FILE)


def _colour(processor: Fields, field: str) -> tuple[float, float, float]:
    values = processor.numbers(field)
    if len(values) != 3:
        raise SourceError(
            f"{processor.name(field)} must be three numbers, for red, green and blue, but is "
            f"{values}. Correct the file or fetch it again"
        )
    return values[0], values[1], values[2]
