from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from conftest import MODELS
from PIL import Image

from nearside_export import media, y4m

CLIP = MODELS / "media" / "clip.y4m"


@pytest.mark.parametrize(
    ("rgb", "yuv"),
    [
        # ITU-R BT.601, limited range, rounded.
        ((0, 0, 0), (16, 128, 128)),
        ((255, 255, 255), (235, 128, 128)),
        ((255, 0, 0), (81, 90, 240)),
        ((0, 255, 0), (145, 54, 34)),
        ((0, 0, 255), (41, 240, 110)),
    ],
)
def test_colours_become_the_standards_yuv(rgb: tuple[int, ...], yuv: tuple[int, ...]) -> None:
    planes = y4m.i420(np.full((2, 2, 3), rgb, dtype=np.uint8))
    assert tuple(int(p[0, 0]) for p in planes) == yuv
    assert [p.shape for p in planes] == [(2, 2), (1, 1), (1, 1)]


def test_ffmpeg_reads_the_committed_clip_as_it_was_rendered() -> None:
    rendered = list(media.frames())
    with av.open(str(CLIP)) as container:
        stream = container.streams.video[0]
        assert (stream.width, stream.height) == (media.WIDTH, media.HEIGHT)
        assert stream.average_rate == media.FPS
        decoded = [f.to_ndarray(format="rgb24") for f in container.decode(stream)]
    assert len(decoded) == len(rendered) == sum(shot.frames for shot in media.SHOTS)
    for got, want in zip(decoded[::10], rendered[::10], strict=True):
        # Chroma was halved: edges differ, the picture as a whole does not.
        assert np.abs(got.astype(int) - want.astype(int)).mean() < 4.0


def test_the_committed_media_is_what_the_generator_makes(tmp_path: Path) -> None:
    media.export(tmp_path / "media")
    assert (tmp_path / "media" / "clip.y4m").read_bytes() == CLIP.read_bytes()
    for name in media.PHOTOS:
        made = Image.open(tmp_path / "media" / f"{name}.jpg")
        committed = Image.open(MODELS / "media" / f"{name}.jpg")
        np.testing.assert_array_equal(np.asarray(made), np.asarray(committed))


def test_motion_is_smooth_within_a_shot() -> None:
    frames = [f.astype(int) for f in media.frames()]
    cuts = set(np.cumsum([shot.frames for shot in media.SHOTS]).tolist())
    for index in range(1, len(frames)):
        difference = np.abs(frames[index] - frames[index - 1]).mean()
        assert (difference > 25.0) == (index in cuts)
