from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from nearside_export.architectures.vision.mobilenet_v5 import MobileNetV5Encoder
from nearside_export.architectures.vision.siglip import SiglipEncoder
from nearside_export.errors import SourceError, UnsupportedError
from nearside_export.preprocess import preprocess
from nearside_export.recipes import files, gemma, tiny_gemma3_vision, tiny_gemma3n
from nearside_export.sources import image_processor
from nearside_export.sources.fields import read_object


@pytest.mark.parametrize(
    ("recipe", "encoder"),
    [(tiny_gemma3_vision, SiglipEncoder), (tiny_gemma3n, MobileNetV5Encoder)],
    ids=["siglip", "mobilenet-v5"],
)
def test_an_encoder_equals_get_image_features(recipe: object, encoder: type) -> None:
    model = recipe.model()
    wrapped = encoder(model).eval()
    generator = torch.Generator().manual_seed(1)
    for _ in range(2):
        pixels = torch.randn(1, 3, recipe.IMAGE_SIZE, recipe.IMAGE_SIZE, generator=generator)
        with torch.no_grad():
            want = model.get_image_features(pixels).pooler_output
            torch.testing.assert_close(wrapped(pixels), want, atol=1e-6, rtol=0)
        assert want.abs().mean() > 0.1


def test_counts_that_give_no_square_are_refused() -> None:
    model = tiny_gemma3_vision.model()
    model.config.mm_tokens_per_image = 15
    with pytest.raises(SourceError, match="mm_tokens_per_image is 15"):
        SiglipEncoder(model)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    gemma.write_around(tmp_path, 32, mean=0.5)
    return tmp_path


def test_the_image_spec_does_what_the_processor_does(folder: Path, picture: Image.Image) -> None:
    from transformers import Gemma3ImageProcessor

    theirs = Gemma3ImageProcessor.from_pretrained(folder)(picture, return_tensors="np")
    ours = preprocess(picture, image_processor.read(folder))
    # Resizing rounds to 8 bits: one step is 2/255 of the range -1..1.
    error = np.abs(np.asarray(theirs["pixel_values"]) - ours)
    assert error.max() <= 2.01 / 255
    assert error.mean() < 0.5 / 255


@pytest.mark.parametrize(
    ("field", "value", "error", "message"),
    [
        ("size", None, SourceError, "size is missing"),
        ("size", {"height": 32}, SourceError, "size.width is missing"),
        ("resample", None, SourceError, "resample is missing"),
        ("resample", 1, UnsupportedError, "resample is 1"),
        ("do_normalize", None, SourceError, "do_normalize is missing"),
        ("image_mean", [0.5], SourceError, "three numbers"),
        ("image_std", [0.5, 0.0, 0.5], SourceError, "above 0"),
        ("rescale_factor", 1.0, UnsupportedError, "1/255"),
        ("do_pan_and_scan", True, UnsupportedError, "crops"),
        ("do_resize", False, UnsupportedError, "one size"),
    ],
)
def test_a_processor_that_lacks_or_asks_too_much_is_refused_by_field(
    folder: Path, field: str, value: object, error: type[Exception], message: str
) -> None:
    path = folder / image_processor.FILE
    changed = {**read_object(path), field: value}
    files.write_json(path, changed)
    with pytest.raises(error, match=message):
        image_processor.read(folder)
