from __future__ import annotations

from itertools import islice

import numpy as np
from PIL import Image

from nearside_export.data import sets, sources
from nearside_export.data.crops import random_crop


def test_no_scene_is_in_both_sets() -> None:
    calibration = {*sources.CALIBRATION_PHOTOS, *sources.CALIBRATION_CLIPS}
    evaluation = {*sources.EVALUATION_PHOTOS, *sources.EVALUATION_CLIPS}
    assert not calibration & evaluation


def test_both_sets_are_large_enough() -> None:
    assert sum(1 for _ in sets.calibration()) >= 100
    assert sum(1 for _ in sets.evaluation()) >= 50


def test_the_same_pictures_come_every_time() -> None:
    for first, second in zip(
        islice(sets.evaluation(), 20), islice(sets.evaluation(), 20), strict=True
    ):
        np.testing.assert_array_equal(np.asarray(first), np.asarray(second))


def test_crops_stay_inside_a_picture_of_any_shape() -> None:
    rng = np.random.default_rng(1)
    for size in ((1, 1), (3, 400), (400, 3), (64, 48)):
        picture = Image.new("RGB", size)
        for _ in range(50):
            crop = random_crop(picture, rng)
            assert 1 <= crop.width <= size[0]
            assert 1 <= crop.height <= size[1]
