"""Time Nearside's preprocessing, OpenCV, libyuv and the best chain of Rust crates, side by side.

All run in one process, one thread each, in turn on the same frames; a figure is the median of many
rounds. `cargo xtask bench vision` sets up what this needs and runs it.
"""

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import chains
import cv2
import numpy as np
import pictures
from chains import AREA, LINEAR, MEAN, STD, Chain
from numpy.typing import NDArray
from peers import NotRunError, Peers, Task
from PIL import Image

Bytes = NDArray[np.uint8]

# Rounds that are not counted.
WARM_UP = 5
# At least as long is measured, in seconds, however long one round takes.
LEAST_TIME = 0.5


@dataclass
class Row:
    """One line of the table: ours against one other."""

    work: str
    against: str
    ours_ms: float | None = None
    other_ms: float | None = None
    # The shortest of all rounds.
    ours_min_ms: float | None = None
    other_min_ms: float | None = None
    # How many times slower the other is, or ours, and what that must be.
    ratio: float | None = None
    needed: str = ""
    met: bool | None = None
    # Between the results, on 0..255: that both did the same work.
    mean_difference: float | None = None
    note: str = ""


@dataclass
class Contest:
    """What is timed together: ours, and others by name. Of those of one name the fastest counts."""

    work: str
    ours: Chain | None
    others: list[tuple[str, Chain]] = field(default_factory=list)
    # What is not run, and why.
    absent: list[tuple[str, str]] = field(default_factory=list)

    def add(self, name: str, make: Callable[[], Chain | list[Chain]]) -> None:
        """Add another, unless this machine can't run it."""
        try:
            made = make()
        except NotRunError as reason:
            self.absent.append((name, str(reason)))
            return
        made = made if isinstance(made, list) else [made]
        self.others.extend((name, chain) for chain in made)


@dataclass(frozen=True)
class Limit:
    """What must be reached against another: `at_least` times faster, or `at_most` as slow."""

    at_least: float | None = None
    at_most: float | None = None

    def __str__(self) -> str:
        """Return how the table says it."""
        if self.at_least is not None:
            return f">= {self.at_least:g}x faster"
        return f"<= {self.at_most:g}x its time"

    def ratio(self, ours: float, other: float) -> tuple[float, bool]:
        """Return the ratio, and whether it is enough."""
        if self.at_least is not None:
            return other / ours, other / ours >= self.at_least
        assert self.at_most is not None
        return ours / other, ours / other <= self.at_most


def native(peers: Peers, name: str, task: Task, frame: Bytes) -> Chain:
    """Make a chain of a contender in the library."""
    contender = peers.contender(task)
    dtype = (
        np.float32
        if task.get("spec", {"element": "u8"}).get("element", "f32") == "f32"
        else np.uint8
    )
    out = np.empty(contender.output_bytes // np.dtype(dtype).itemsize, dtype)
    run = contender.bind(frame, out)
    # Some refuse only once they run.
    run()
    return Chain(name, run, out)


def milliseconds(contest: Contest, rounds: int) -> dict[int, list[float]]:
    """Run all in turn, and return how long each took in each round: 0 is ours.

    Each runs twice in its turn, and the second counts, so that the caches hold what it left there
    itself, as if it ran alone.
    """
    runs = [contest.ours, *(chain for _, chain in contest.others)]
    times: dict[int, list[float]] = {at: [] for at, chain in enumerate(runs) if chain}
    started = time.perf_counter()
    round_ = 0
    while round_ < rounds + WARM_UP or time.perf_counter() - started < LEAST_TIME:
        for at in times:
            chain = runs[at]
            assert chain is not None
            chain.run()
            since = time.perf_counter_ns()
            chain.run()
            took = time.perf_counter_ns() - since
            if round_ >= WARM_UP:
                times[at].append(took / 1e6)
        round_ += 1
    return times


def difference(ours: Chain, other: Chain, scale: float) -> float | None:
    """Return the mean difference of two results on 0..255, if they are of one kind."""
    if ours.out.size != other.out.size or ours.out.dtype != other.out.dtype:
        return None
    left, right = (chain.out.ravel().astype(np.float64) for chain in (ours, other))
    return float(np.abs(left - right).mean() * scale)


def rows(contest: Contest, rounds: int, limits: dict[str, Limit]) -> Iterator[Row]:
    """Time a contest, and yield a row for each that ours is against."""
    times = milliseconds(contest, rounds)
    took = {at: statistics.median(values) for at, values in times.items()}
    ours = took.get(0)
    names = list(dict.fromkeys([*(name for name, _ in contest.others), *limits]))
    for name in names:
        indices = [at + 1 for at, (known, _) in enumerate(contest.others) if known == name]
        row = Row(contest.work, name, ours_ms=ours, ours_min_ms=min(times.get(0, []), default=None))
        limit = limits.get(name)
        row.needed = str(limit) if limit else ""
        if indices:
            best = min(indices, key=lambda at: took[at])
            chain = contest.others[best - 1][1]
            row.other_ms, row.other_min_ms = took[best], min(times[best])
            row.note = chain.name if chain.name != name else ""
            if ours is not None and contest.ours is not None:
                row.ratio, met = (limit or Limit(at_least=0)).ratio(ours, took[best])
                row.met = met if limit else None
                scale = 255 * float(np.mean(STD)) if chain.out.dtype == np.float32 else 1.0
                row.mean_difference = difference(contest.ours, chain, scale)
        absent = [reason for known, reason in contest.absent if known in (name, "ours")]
        if absent:
            row.note = f"not run: {absent[0]}"
        yield row


@dataclass
class Frames:
    """The frames that all share."""

    hd_rgb: Bytes
    hd: Bytes
    uhd: Bytes
    vga: Bytes
    jpeg: Bytes

    @classmethod
    def make(cls) -> "Frames":
        """Make them from a photo."""
        hd = pictures.enlarged(1920, 1080)
        encoded, jpeg = cv2.imencode(
            ".jpg",
            pictures.enlarged(4000, 3000, noise=6)[..., ::-1],
            [cv2.IMWRITE_JPEG_QUALITY, 90],
        )
        assert encoded
        return cls(
            hd_rgb=hd,
            hd=pictures.nv12(hd),
            uhd=pictures.nv12(pictures.enlarged(3840, 2160)),
            vga=pictures.i420(pictures.enlarged(640, 480)),
            jpeg=jpeg.ravel(),
        )


HD = {"layout": "nv12", "width": 1920, "height": 1080}


def tensor(width: int, height: int, filter_: str, **more: object) -> Task:
    """Return the JSON of a normalised tensor."""
    spec = {"width": width, "height": height, "filter": filter_, "mean": MEAN, "std": STD}
    return {**spec, **more}


class Comparison:
    """All contests."""

    def __init__(self, peers: Peers, frames: Frames, rounds: int) -> None:
        """Keep what all need."""
        self.peers, self.frames, self.rounds = peers, frames, rounds

    def contest(self, work: str, task: Task, frame: Bytes) -> Contest:
        """Begin a contest with ours."""
        try:
            return Contest(work, native(self.peers, "ours", task, frame))
        except NotRunError as reason:
            return Contest(work, None, absent=[("ours", str(reason))])

    def hd_to_224(
        self, filter_: str, interpolation: int, limits: dict[str, Limit]
    ) -> Iterator[Row]:
        """1080p NV12 to 224, against all."""
        spec, frame, size = tensor(224, 224, filter_), self.frames.hd, (1920, 1080)
        contest = self.contest(
            f"1080p NV12 -> 224 {filter_}", {"by": "nearside", "frame": HD, "spec": spec}, frame
        )
        contest.add("OpenCV", lambda: chains.nv12_to_tensor(frame, size, (224, 224), interpolation))
        contest.add("copy of the frame", lambda: self.copy(frame))
        for name, order in (
            ("yuv + fast_image_resize", "rgb"),
            ("yuv + fast_image_resize", "rgba"),
            ("yuv + fast_image_resize, planes first", "planes_first"),
        ):
            task = {"by": "rust_chain", "frame": HD, "spec": spec, "order": order}
            contest.add(name, lambda task=task, order=order: native(self.peers, order, task, frame))
        contest.add(
            "OpenCV, planes first",
            lambda: chains.nv12_planes_first(frame, size, (224, 224), interpolation),
        )
        yield from rows(contest, self.rounds, limits)

    def copy(self, frame: Bytes) -> Chain:
        """Copy the frame."""
        task = {"by": "copy", "bytes": frame.nbytes}
        return native(self.peers, "copy of the frame", task, frame)

    def uhd_letterbox(self) -> Iterator[Row]:
        """4K NV12 to 896 with bars."""
        frame = self.frames.uhd
        spec = tensor(896, 896, "antialias", fit="letterbox", pad=[114] * 3)
        frame_json = {"layout": "nv12", "width": 3840, "height": 2160}
        contest = self.contest(
            "4K NV12 -> 896 letterbox antialias",
            {"by": "nearside", "frame": frame_json, "spec": spec},
            frame,
        )
        contest.add("OpenCV", lambda: chains.nv12_letterbox(frame, (3840, 2160), 896))
        contest.add("copy of the frame", lambda: self.copy(frame))
        yield from rows(contest, self.rounds, {"OpenCV": Limit(at_least=5)})

    def vga_turned(self, filter_: str) -> Iterator[Row]:
        """640x480 I420 turned and mirrored, against the same upright."""
        frame, spec = self.frames.vga, tensor(224, 224, filter_)
        upright = {"layout": "i420", "width": 640, "height": 480}
        turned = {**upright, "rotation": 90, "mirror": True}
        contest = self.contest(
            f"640x480 I420 turned 90, mirrored -> 224 {filter_}",
            {"by": "nearside", "frame": turned, "spec": spec},
            frame,
        )
        task = {"by": "nearside", "frame": upright, "spec": spec}
        contest.add("ours, upright", lambda: native(self.peers, "ours, upright", task, frame))
        if filter_ == "bilinear":
            contest.add("OpenCV", lambda: chains.i420_turned(frame, (640, 480), (224, 224)))
        yield from rows(contest, self.rounds, {"ours, upright": Limit(at_most=1.5)})

    def hd_to_rgba(self, filter_: str, *, interpolate: bool) -> Iterator[Row]:
        """1080p NV12 to RGBA at full size, chroma repeated as libyuv does it, or interpolated."""
        layout = "i420" if interpolate else "nv12"
        frame = pictures.i420(self.frames.hd_rgb) if interpolate else self.frames.hd
        frame_json = {**HD, "layout": layout}
        spec = {"width": 1920, "height": 1080, "filter": filter_, "layout": "nhwc"}
        spec |= {"channels": "rgba", "element": "u8"}
        contest = self.contest(
            f"1080p {layout.upper()} -> RGBA, chroma {filter_}",
            {"by": "nearside", "frame": frame_json, "spec": spec},
            frame,
        )
        task = {"by": "libyuv", "frame": frame_json, "interpolate": interpolate}
        contest.add("libyuv", lambda: native(self.peers, "libyuv", task, frame))
        if not interpolate:
            contest.add("OpenCV", lambda: chains.nv12_to_rgba(frame, (1920, 1080)))
        yield from rows(contest, self.rounds, {"libyuv": Limit(at_most=1)})

    def photo_to_512(self) -> Iterator[Row]:
        """Decode a JPEG of 12 megapixels, shrink to 512."""
        file = self.frames.jpeg
        contest = self.contest(
            f"12 MP JPEG ({file.nbytes / 1e6:.1f} MB) -> 512 antialias",
            {"by": "nearside_photo", "spec": tensor(512, 512, "antialias")},
            file,
        )
        for interpolation in (LINEAR, AREA):
            contest.add(
                "OpenCV",
                lambda how=interpolation: chains.jpeg_to_tensor(file, (512, 512), how),
            )
        name = "libjpeg-turbo by Pillow, OpenCV"
        contest.add(name, lambda: chains.jpeg_by_pillow(file, (512, 512), LINEAR))
        limits = {"OpenCV": Limit(at_most=1), name: Limit(at_most=1)}
        yield from rows(contest, min(self.rounds, 20), limits)

    def pixels_to_224(self, layout: str, filter_: str, interpolation: int) -> Iterator[Row]:
        """1080p RGB or BGRA to 224."""
        rgb = self.frames.hd_rgb
        code = cv2.COLOR_RGB2BGRA
        pixels = cv2.cvtColor(rgb, code) if layout == "bgra" else rgb
        task = {
            "by": "nearside",
            "frame": {**HD, "layout": layout},
            "spec": tensor(224, 224, filter_),
        }
        contest = self.contest(f"1080p {layout.upper()} -> 224 {filter_}", task, pixels)
        contest.add("OpenCV", lambda: chains.pixels_to_tensor(pixels, (224, 224), interpolation))
        if layout == "rgb":
            pillow = {
                "antialias": Image.Resampling.BILINEAR,
                "bicubic": Image.Resampling.BICUBIC,
                "area": Image.Resampling.BOX,
            }
            if filter_ in pillow:
                contest.add(
                    "Pillow",
                    lambda: chains.pillow_to_tensor(pixels, (224, 224), pillow[filter_]),
                )
        yield from rows(contest, self.rounds, {})

    def contests(self) -> dict[str, Callable[[], Iterator[Row]]]:
        """Return all by name, in the order of the table."""
        faster = {"OpenCV": Limit(at_least=8), "yuv + fast_image_resize": Limit(at_least=3)}
        antialias = {
            "OpenCV": Limit(at_least=10),
            "copy of the frame": Limit(at_most=8),
            "yuv + fast_image_resize": Limit(at_least=3),
        }
        every = {
            "bilinear": lambda: self.hd_to_224("bilinear", LINEAR, faster),
            "antialias": lambda: self.hd_to_224("antialias", AREA, antialias),
            "letterbox": self.uhd_letterbox,
            "turned": lambda: self.vga_turned("bilinear"),
            "turned-antialias": lambda: self.vga_turned("antialias"),
            "rgba": lambda: self.hd_to_rgba("nearest", interpolate=False),
            "rgba-interpolated": lambda: self.hd_to_rgba("bilinear", interpolate=True),
            "photo": self.photo_to_512,
            "area": lambda: self.hd_to_224("area", AREA, {}),
            "bicubic": lambda: self.hd_to_224("bicubic", cv2.INTER_CUBIC, {}),
        }
        for layout in ("rgb", "bgra"):
            for filter_, how in (
                ("bilinear", LINEAR),
                ("antialias", AREA),
                ("bicubic", cv2.INTER_CUBIC),
                ("area", AREA),
            ):
                every[f"{layout}-{filter_}"] = lambda layout=layout, filter_=filter_, how=how: (
                    self.pixels_to_224(layout, filter_, how)
                )
        return every


def cell(value: float | None, form: str) -> str:
    """Format a number that may be missing."""
    return "-" if value is None else format(value, form)


def table(all_rows: list[Row]) -> str:
    """Format the rows for people."""
    heads = ["work", "ours ms", "against", "ms", "ratio", "needed", "", "mean diff.", "note"]
    lines = [heads]
    work = ""
    for row in all_rows:
        verdict = {True: "met", False: "MISSED", None: ""}[row.met]
        lines.append(
            [
                row.work if row.work != work else "",
                cell(row.ours_ms, ".3f"),
                row.against,
                cell(row.other_ms, ".3f"),
                cell(row.ratio, ".2f") + "x" if row.ratio is not None else "-",
                row.needed,
                verdict,
                cell(row.mean_difference, ".2f"),
                row.note,
            ]
        )
        work = row.work
    widths = [max(len(line[at]) for line in lines) for at in range(len(heads))]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def processor() -> str:
    """Return the processor's name."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in text.splitlines() if "model name" in line]
    return names[0] if names else platform.machine()


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", type=Path, help="the folder of libnearside_pixel_peers")
    parser.add_argument("--rounds", type=int, default=150, help="counted rounds of each contest")
    parser.add_argument("--only", help="names of contests, with commas between them")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()

    cv2.setNumThreads(1)
    comparison = Comparison(Peers(arguments.library), Frames.make(), arguments.rounds)
    contests = comparison.contests()
    names = arguments.only.split(",") if arguments.only else list(contests)
    unknown = [name for name in names if name not in contests]
    if unknown:
        parser.error(f"no contest {', '.join(unknown)}; there are {', '.join(contests)}")
    all_rows = [row for name in names for row in contests[name]()]
    versions = {"opencv": cv2.__version__, "numpy": np.__version__, "processor": processor()}
    if arguments.json:
        print(
            json.dumps({"versions": versions, "rows": [asdict(row) for row in all_rows]}, indent=2)
        )
        return
    print(f"{versions['processor']}, one thread, OpenCV {cv2.__version__}, medians")
    print(table(all_rows))
    missed = [row for row in all_rows if row.met is False]
    print(f"\n{sum(row.met is True for row in all_rows)} met, {len(missed)} missed")
    if missed:
        sys.exit(1)


if __name__ == "__main__":
    main()
