"""Compare Nearside's pictures with Pillow's, OpenCV's and exact ones, on photos and on frames.

From RGB, the tensor is compared with what Pillow (antialias: BILINEAR, bicubic: BICUBIC) and OpenCV
(bilinear: INTER_LINEAR, area: INTER_AREA) make of the same bytes. From YUV, it is compared with
converting and then resizing in double precision, where colours that RGB can't show are clamped
after the resizing, or before it: then even exact pictures differ where there are such colours.
Differences are on 0..255. `cargo xtask bench vision --parity` sets up what this needs and runs it.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import exact
import numpy as np
import pictures
from exact import Colour
from numpy.typing import NDArray
from peers import NotRunError, Peers, Task
from PIL import Image

Bytes = NDArray[np.uint8]
Crop = tuple[int, int, int, int]

FILTERS = ("bilinear", "antialias", "bicubic", "area")
# Largest difference, and mean of a case.
RGB_LIMITS = (1.0, 0.1)
YUV_LIMITS = (3.0, 0.5)
# A mean over less says nothing: the rounding of three values can all go one way.
FEWEST_VALUES = 1000
# Exact pictures, clamped before and after the resizing, differ by more than any useful limit on the
# largest difference: `Tally.inherent` says by how much.
YUV_LIMITS_CLAMPED_FIRST = (float("inf"), 0.5)


@dataclass
class Tally:
    """The differences of one kind."""

    limits: tuple[float, float] | None
    cases: int = 0
    values: int = 0
    differing: int = 0
    total: float = 0.0
    max: float = 0.0
    worst_mean: float = 0.0
    worst: str = ""
    # The largest difference that is by definition.
    inherent: float = 0.0
    note: str = ""

    def add(self, name: str, ours: NDArray[np.generic], expected: NDArray[np.generic]) -> None:
        """Count one case."""
        differences = np.abs(ours.astype(np.float64) - expected)
        self.cases += 1
        self.values += differences.size
        self.differing += int(np.count_nonzero(differences > 0.5))
        self.total += float(differences.sum())
        mean, most = float(differences.mean()), float(differences.max())
        # A NaN must not pass for a small difference.
        if not most <= self.max or not self.worst:
            self.max, self.worst = most, f"{name}: max {most:.2f}, mean {mean:.4f}"
        if not mean <= self.worst_mean and (differences.size >= FEWEST_VALUES or np.isnan(mean)):
            self.worst_mean = mean

    def met(self) -> bool | None:
        """Say whether it is within its limits."""
        if self.limits is None or not self.cases:
            return None
        return self.max <= self.limits[0] and self.worst_mean <= self.limits[1]


class Parity:
    """All comparisons so far, by kind."""

    def __init__(self, peers: Peers) -> None:
        """Begin with none."""
        self.peers = peers
        self.tallies: dict[str, Tally] = {}

    def ours(
        self, frame_json: Task, frame: Bytes, crop: Crop | None, out: tuple[int, int], filter_: str
    ) -> NDArray[np.float32]:
        """Return our picture on 0..255."""
        spec = {
            "width": out[0],
            "height": out[1],
            "filter": filter_,
            "layout": "nhwc",
            "std": [1 / 255] * 3,
        }
        task = {"by": "nearside", "frame": {**frame_json, "crop": crop}, "spec": spec}
        return self.peers.result(task, frame).view(np.float32).reshape(out[1], out[0], 3)

    def tally(self, kind: str, limits: tuple[float, float] | None) -> Tally:
        """Return the tally of a kind."""
        return self.tallies.setdefault(kind, Tally(limits))

    def rgb(self, name: str, pixels: Bytes) -> None:
        """Compare a photo with Pillow and OpenCV."""
        height, width = pixels.shape[:2]
        frame_json = {"layout": "rgb", "width": width, "height": height}
        for filter_ in FILTERS:
            tally = self.tally(f"RGB {filter_} = {LIBRARIES[filter_][0]}", RGB_LIMITS)
            for crop, out in views(width, height):
                try:
                    ours = self.ours(frame_json, pixels, crop, out, filter_)
                except NotRunError as reason:
                    tally.note = f"not run: {reason}"
                    break
                x, y, columns, rows = crop or (0, 0, width, height)
                part = np.ascontiguousarray(pixels[y : y + rows, x : x + columns])
                expected = library_resize(part, out, filter_)
                tally.add(f"{name} {crop or ''} -> {out[0]}x{out[1]}", ours, expected)

    def yuv(self, name: str, planes: list[NDArray[np.integer]], colour: Colour) -> None:
        """Compare a frame with converting and then resizing in double precision."""
        height, width = planes[0].shape
        layout = "nv12" if colour.bits == 8 else "p010"
        frame_json = {"layout": layout, "width": width, "height": height}
        frame_json |= {"matrix": colour.matrix, "range": colour.range, "siting": colour.siting}
        frame = interleaved(planes, colour.bits)
        whole = exact.to_rgb(planes, colour)
        label = f"{layout.upper()} {colour.matrix} {colour.range} {colour.siting}"
        for filter_ in FILTERS:
            first = self.tally(f"{label}, {filter_}, clamped first", YUV_LIMITS_CLAMPED_FIRST)
            last = self.tally(f"{label}, {filter_}, clamped last", YUV_LIMITS)
            for crop, out in views(width, height):
                try:
                    ours = self.ours(frame_json, frame, crop, out, filter_)
                except NotRunError as reason:
                    first.note = last.note = f"not run: {reason}"
                    break
                x, y, columns, rows = crop or (0, 0, width, height)
                part = whole[y : y + rows, x : x + columns]
                case = f"{name} {crop or ''} -> {out[0]}x{out[1]}"
                clamped = exact.resize(np.clip(part, 0, 255), out, filter_)
                expected = [np.clip(clamped, 0, 255)]
                expected.append(np.clip(exact.resize(part, out, filter_), 0, 255))
                for tally, picture in zip((first, last), expected, strict=True):
                    tally.add(case, ours, picture)
                inherent = float(np.abs(expected[0] - expected[1]).max())
                first.inherent = max(first.inherent, inherent)


LIBRARIES = {
    "bilinear": ("OpenCV INTER_LINEAR", cv2.INTER_LINEAR),
    "area": ("OpenCV INTER_AREA", cv2.INTER_AREA),
    "antialias": ("Pillow BILINEAR", Image.Resampling.BILINEAR),
    "bicubic": ("Pillow BICUBIC", Image.Resampling.BICUBIC),
}


def library_resize(pixels: Bytes, out: tuple[int, int], filter_: str) -> Bytes:
    """Resize bytes with the library that the filter follows."""
    _, how = LIBRARIES[filter_]
    if filter_ in ("bilinear", "area"):
        return cv2.resize(pixels, out, interpolation=how)
    return np.asarray(Image.fromarray(pixels).resize(out, how))


def views(width: int, height: int) -> Iterator[tuple[Crop | None, tuple[int, int]]]:
    """Yield crops and sizes: shrunk, enlarged, both, odd, integer factors, single pixels."""
    for out in ((224, 224), (320, 320), (37, 53), (513, 385), (1, 1), (width // 2, height // 2)):
        yield None, (max(out[0], 1), max(out[1], 1))
    yield None, (width, height)
    # Wider and lower, narrower and higher.
    yield None, (width + 91, max(height // 3, 1))
    yield None, (max(width // 5, 1), height + 33)
    x, y = width // 3 | 1, height // 4 | 1
    columns, rows = (width - x) // 2 | 1, (height - y) // 2 | 1
    if x + columns <= width and y + rows <= height:
        for out in ((224, 224), (31, 17), (3 * columns, 2 * rows), (columns, rows), (500, 20)):
            yield (x, y, columns, rows), out
    yield (width - 1, height - 1, 1, 1), (5, 3)
    yield (width // 2, 0, 1, height), (7, 64)
    yield (0, height // 2, width, 1), (64, 7)


def interleaved(planes: list[NDArray[np.integer]], bits: int) -> Bytes:
    """Pack planes as NV12, or as P010 with the value in the high ten of sixteen bits."""
    luma = planes[0].ravel()
    chroma = np.stack([planes[1], planes[2]], axis=2).ravel()
    packed = np.concatenate([luma, chroma])
    if bits == 8:
        return packed.astype(np.uint8)
    return (packed << (16 - bits)).astype("<u2").view(np.uint8)


def colours() -> list[Colour]:
    """Return the colour spaces of the frames that are made from photos."""
    eight = [Colour(matrix, range_) for matrix in exact.WEIGHTS for range_ in ("limited", "full")]
    left = [Colour("bt709", "limited", "left"), Colour("bt2020", "limited", "left", 10)]
    ten = [Colour("bt2020", range_, bits=10) for range_ in ("limited", "full")]
    return eight + left + ten


def report(tallies: dict[str, Tally]) -> str:
    """Format all for people."""
    width = max(len(kind) for kind in tallies)
    lines = [
        f"{'kind':{width}}  cases      values     max  worst mean  mean    off by > 0.5  worst case"
    ]
    for kind, tally in tallies.items():
        if tally.note and not tally.cases:
            lines.append(f"{kind:{width}}  {tally.note}")
            continue
        verdict = {True: "", False: "  BEYOND THE LIMIT", None: ""}[tally.met()]
        if tally.inherent:
            verdict = f" (by definition up to {tally.inherent:.2f}){verdict}"
        lines.append(
            f"{kind:{width}}  {tally.cases:5}  {tally.values:10}  {tally.max:6.2f}"
            f"  {tally.worst_mean:10.4f}  {tally.total / tally.values:6.4f}"
            f"  {tally.differing / tally.values:11.4%}  {tally.worst}{verdict}"
        )
    return "\n".join(lines)


def main() -> None:
    """Compare what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", type=Path, help="the folder of libnearside_pixel_peers")
    parser.add_argument("--photos", nargs="*", type=Path, help="image files")
    parser.add_argument(
        "--clips", nargs="*", type=Path, help="video files, of which frames are taken"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()

    cv2.setNumThreads(1)
    parity = Parity(Peers(arguments.library))
    photos = pictures.photo_files() if arguments.photos is None else arguments.photos
    clips = pictures.clip_files() if arguments.clips is None else arguments.clips
    for at, file in enumerate(photos):
        pixels = pictures.read_photo(file)
        parity.rgb(file.name, pixels)
        # All colour spaces on the first photo, one more on each of the others.
        spaces = colours()
        for colour in spaces if at == 0 else [spaces[at % len(spaces)]]:
            parity.yuv(file.name, exact.to_planes(pixels, colour), colour)
    for file in clips:
        for at, planes in enumerate(pictures.clip_frames(file)):
            name = f"{file.name} {at}"
            parity.rgb(
                name, np.clip(exact.to_rgb(planes, Colour()).round(), 0, 255).astype(np.uint8)
            )
            parity.yuv(name, planes, Colour())
    if arguments.json:
        rows = {
            kind: {**vars(tally), "mean": tally.total / max(tally.values, 1), "met": tally.met()}
            for kind, tally in parity.tallies.items()
        }
        print(json.dumps(rows, indent=2))
    else:
        print(report(parity.tallies))
        print(
            f"\nlimits: RGB max {RGB_LIMITS[0]:g}, mean {RGB_LIMITS[1]:g} a case;"
            f" YUV max {YUV_LIMITS[0]:g}, mean {YUV_LIMITS[1]:g}"
        )
    if any(tally.met() is False for tally in parity.tallies.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
