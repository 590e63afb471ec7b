from __future__ import annotations

import cv2
import numpy as np
import pytest
from PIL import Image

from nearside_export.image_spec import ImageSpec
from nearside_export.preprocess import fit_pixels, placement, preprocess


def test_stretch_is_pillow_bilinear(picture: Image.Image) -> None:
    spec = ImageSpec(width=40, height=30, fit="stretch")
    expected = np.asarray(picture.resize((40, 30), Image.Resampling.BILINEAR))
    np.testing.assert_array_equal(fit_pixels(picture, spec), expected)


def test_center_crop_is_resize_then_crop_as_in_timm(picture: Image.Image) -> None:
    # floor(32 / 0.8) = 40 for the shorter side, 40 * 97 // 61 = 63 for the longer.
    scaled = picture.resize((63, 40), Image.Resampling.BILINEAR)
    # (63 - 32) / 2 = 15.5 rounds to the even 16.
    expected = scaled.crop((16, 4, 48, 36))
    spec = ImageSpec(width=32, height=32, crop_fraction=0.8)
    np.testing.assert_array_equal(fit_pixels(picture, spec), np.asarray(expected))


@pytest.mark.parametrize(
    ("size", "scaled", "window"),
    [
        ((600, 400), (384, 256), (80, 16)),
        ((400, 600), (256, 384), (16, 80)),
        ((451, 300), (384, 256), (80, 16)),
        # 256 * 453 / 300 = 386.56 is cut to 386.
        ((453, 300), (386, 256), (81, 16)),
        ((1, 1), (256, 256), (16, 16)),
    ],
)
def test_center_crop_of_224_by_0_875_is_resize_256_crop_224(
    size: tuple[int, int], scaled: tuple[int, int], window: tuple[int, int]
) -> None:
    place = placement(*size, ImageSpec(width=224, height=224, crop_fraction=0.875))
    assert (place.scaled, place.window, place.size) == (scaled, window, (224, 224))


def test_center_crop_keeps_the_aspect_ratio_of_a_target_that_is_not_square() -> None:
    place = placement(100, 100, ImageSpec(width=200, height=100))
    assert (place.scaled, place.window) == ((200, 200), (0, 50))


@pytest.mark.parametrize("size", [(40, 30), (97, 61), (150, 111)])
def test_bilinear_is_opencv_inter_linear(picture: Image.Image, size: tuple[int, int]) -> None:
    spec = ImageSpec(width=size[0], height=size[1], fit="stretch", filter="bilinear")
    expected = cv2.resize(np.asarray(picture), size, interpolation=cv2.INTER_LINEAR)
    difference = fit_pixels(picture, spec).astype(int) - expected.astype(int)
    # OpenCV interpolates with 11-bit fixed-point weights.
    assert np.abs(difference).max() <= 1


@pytest.mark.parametrize("size", [(40, 30), (150, 111), (97, 20)])
@pytest.mark.parametrize(
    ("name", "resampling"),
    [("nearest", Image.Resampling.NEAREST), ("bicubic_antialias", Image.Resampling.BICUBIC)],
)
def test_nearest_and_bicubic_are_pillows(
    picture: Image.Image, name: str, resampling: Image.Resampling, size: tuple[int, int]
) -> None:
    spec = ImageSpec(width=size[0], height=size[1], fit="stretch", filter=name)
    expected = np.asarray(picture.resize(size, resampling))
    np.testing.assert_array_equal(fit_pixels(picture, spec), expected)


@pytest.mark.parametrize("size", [(40, 30), (97, 61), (150, 111), (97, 20), (150, 20), (1, 1)])
def test_area_is_opencv_inter_area(picture: Image.Image, size: tuple[int, int]) -> None:
    spec = ImageSpec(width=size[0], height=size[1], fit="stretch", filter="area")
    expected = cv2.resize(np.asarray(picture), size, interpolation=cv2.INTER_AREA)
    difference = fit_pixels(picture, spec).astype(int) - expected.astype(int)
    assert np.abs(difference).max() <= 1


def test_letterbox_pads_with_the_colour_and_keeps_the_aspect_ratio(picture: Image.Image) -> None:
    spec = ImageSpec(width=64, height=64, fit="letterbox", pad=(10, 20, 30))
    pixels = fit_pixels(picture, spec)
    # 97x61 into 64x64: 64x40 (61 * 64 / 97 = 40.2), 12 rows of padding above and below.
    assert (pixels[:12] == (10, 20, 30)).all()
    assert (pixels[52:] == (10, 20, 30)).all()
    expected = np.asarray(picture.resize((64, 40), Image.Resampling.BILINEAR))
    np.testing.assert_array_equal(pixels[12:52], expected)


def test_values_are_normalised_per_channel_and_laid_out_as_nchw() -> None:
    grey = Image.new("RGB", (8, 8), (255, 0, 51))
    spec = ImageSpec(width=2, height=4, mean=(0.5, 0.25, 0.0), std=(0.5, 0.25, 2.0))
    tensor = preprocess(grey, spec)
    assert tensor.shape == (1, 3, 4, 2)
    assert tensor.dtype == np.float32
    np.testing.assert_allclose(tensor[0, :, 0, 0], [1.0, -1.0, 0.1], rtol=1e-6)


def test_nhwc_is_nchw_transposed(picture: Image.Image) -> None:
    nchw = preprocess(picture, ImageSpec(width=12, height=9))
    nhwc = preprocess(picture, ImageSpec(width=12, height=9, layout="nhwc"))
    np.testing.assert_array_equal(nhwc, nchw.transpose(0, 2, 3, 1))


@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
def test_bgr_is_rgb_backwards_after_normalising(picture: Image.Image, layout: str) -> None:
    made = {
        channels: preprocess(
            picture,
            ImageSpec(
                width=12,
                height=9,
                layout=layout,
                channels=channels,
                mean=(0.1, 0.2, 0.3),
                std=(0.5, 0.6, 0.7),
            ),
        )
        for channels in ("rgb", "bgr")
    }
    axis = 1 if layout == "nchw" else 3
    np.testing.assert_array_equal(made["bgr"], np.flip(made["rgb"], axis))


def test_grey_and_transparent_pictures_become_rgb(picture: Image.Image) -> None:
    spec = ImageSpec(width=8, height=8)
    grey = preprocess(picture.convert("L"), spec)
    np.testing.assert_array_equal(grey[0, 0], grey[0, 2])
    np.testing.assert_array_equal(
        preprocess(picture.convert("RGBA"), spec), preprocess(picture, spec)
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("fit", "zoom"),
        ("filter", "cubic"),
        ("layout", "hwc"),
        ("channels", "rgba"),
        ("crop_fraction", 0.0),
    ],
)
def test_an_unknown_choice_is_refused(field: str, value: object) -> None:
    with pytest.raises(ValueError, match=field):
        ImageSpec(width=8, height=8, **{field: value})
