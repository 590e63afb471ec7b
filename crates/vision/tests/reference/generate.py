"""Write what the tests of nearside-vision compare with, computed by Pillow, OpenCV and numpy.

Run it in a virtual environment with the packages of requirements.txt. It takes no arguments, writes
beside itself, and gives the same bytes each time. `cases.tsv` has a row for each tensor, whose
expected values (height x width x RGB, on 0..255) are in `expected.bin`. The pictures are crops of
`chelsea` and `coffee` from scikit-image, both CC0.
"""

import io
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
import skimage
from numpy.typing import NDArray
from PIL import Image, ImageFilter, ImageOps

HERE = Path(__file__).parent
PHOTOS = HERE / "photos"

Bytes = NDArray[np.uint8]
Doubles = NDArray[np.float64]
# Bytes, or ten bits in sixteen.
Codes = NDArray[np.integer]

# Kr and Kb of each matrix.
WEIGHTS = {"bt601": (0.299, 0.114), "bt709": (0.2126, 0.0722), "bt2020": (0.2627, 0.0593)}
WIDTH, HEIGHT = 97, 61


@dataclass
class Case:
    """One tensor: what goes in, what is done to it, and who says what comes out."""

    name: str
    source: str
    size: tuple[int, int]
    out: tuple[int, int]
    crop: tuple[int, int, int, int] | None = None
    degrees: int = 0
    mirror: bool = False
    matrix: str = "bt601"
    range: str = "limited"
    siting: str = "center"
    fit: str = "stretch"
    filter: str = "antialias"
    by: str = "pillow"


@dataclass
class Writer:
    """Collects the rows of cases.tsv and the values of expected.bin."""

    rows: list[str] = field(default_factory=list)
    values: bytearray = field(default_factory=bytearray)

    def add(self, case: Case, expected: NDArray[np.generic]) -> None:
        """Add a case. Bytes stay bytes; floats become u16 in 256ths."""
        assert expected.shape == (case.out[1], case.out[0], 3), (case, expected.shape)
        kind = "u8" if expected.dtype == np.uint8 else "u16"
        if kind == "u16":
            expected = np.round(np.asarray(expected, dtype=float) * 256).astype("<u2")
        data = expected.tobytes()
        crop = ",".join(map(str, case.crop)) if case.crop else "-"
        row = [
            case.name,
            case.source,
            times(case.size),
            crop,
            str(case.degrees),
            "mirrored" if case.mirror else "-",
            case.matrix,
            case.range,
            case.siting,
            case.fit,
            case.filter,
            times(case.out),
            case.by,
            kind,
            str(len(self.values)),
        ]
        self.rows.append("\t".join(row))
        self.values += data

    def save(self) -> None:
        """Write both files."""
        (HERE / "cases.tsv").write_text("\n".join(self.rows) + "\n")
        (HERE / "expected.bin").write_bytes(self.values)


def times(size: tuple[int, int]) -> str:
    """Write a size as WIDTHxHEIGHT."""
    return f"{size[0]}x{size[1]}"


# Pictures.


def cat() -> Bytes:
    """Return a cat's face, 97x61 RGB."""
    face = (
        Image.open(Path(skimage.__file__).parent / "data/chelsea.png")
        .convert("RGB")
        .crop((90, 20, 381, 203))
    )
    return np.asarray(face.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS))


def coffee() -> Bytes:
    """Return a cup of coffee, 60x40 RGB, soft enough for JPEG to keep."""
    cup = Image.open(Path(skimage.__file__).parent / "data/coffee.png").convert("RGB")
    return np.asarray(
        cup.resize((60, 40), Image.Resampling.BOX).filter(ImageFilter.GaussianBlur(1.5))
    )


def triangle_wave(at: NDArray[np.int64], height: int) -> Bytes:
    """Up and down between 0 and `height`; the tests compute the same."""
    return np.abs(at % (2 * height) - height).astype(np.uint8)


def wave_rgb(width: int, height: int) -> Bytes:
    """Make a smooth picture of any size that need not be stored."""
    y, x = np.mgrid[0:height, 0:width]
    channels = [triangle_wave(at, 255) for at in (x + 2 * y, 3 * x + y, 2 * x + 3 * y)]
    return np.stack(channels, axis=2)


def noise_rgb(width: int, height: int) -> Bytes:
    """Make a picture of all values at random; the tests compute the same."""
    y, x, channel = np.mgrid[0:height, 0:width, 0:3].astype(np.uint32)
    mixed = (x * 7919 + y * 104729 + channel * 1299709) * np.uint32(2654435761)
    return ((mixed ^ (mixed >> 15)) * np.uint32(2246822519) >> 24).astype(np.uint8)


def wave_yuv(width: int, height: int) -> list[Bytes]:
    """Make the same in YUV 4:2:0, within what RGB can show."""
    y, x = np.mgrid[0:height, 0:width]
    v, u = np.mgrid[0 : (height + 1) // 2, 0 : (width + 1) // 2]
    luma = 80 + triangle_wave(x + 2 * y, 80)
    return [luma, 108 + triangle_wave(2 * u + v, 40), 108 + triangle_wave(u + 2 * v, 40)]


# YUV in double precision.


def yuv_from_rgb(matrix: str) -> Doubles:
    """Return the 3x3 matrix from R, G, B on 0..1 to Y on 0..1 and U, V on -0.5..0.5."""
    kr, kb = WEIGHTS[matrix]
    luma = np.array([kr, 1 - kr - kb, kb])
    blue = (np.array([0, 0, 1]) - luma) / (2 * (1 - kb))
    red = (np.array([1, 0, 0]) - luma) / (2 * (1 - kr))
    return np.stack([luma, blue, red])


def scales(range_: str, bits: int) -> tuple[Doubles, Doubles]:
    """Return scale and offset of the code values of Y, U, V."""
    unit = float(2 ** (bits - 8))
    if range_ == "limited":
        return np.array([219.0, 224.0, 224.0]) * unit, np.array([16.0, 128.0, 128.0]) * unit
    return np.full(3, 2.0**bits - 1), np.array([0.0, 128.0, 128.0]) * unit


def to_yuv(
    rgb: Bytes,
    matrix: str,
    range_: str,
    halve_rows: bool,
    siting: str = "center",
    bits: int = 8,
) -> list[Codes]:
    """Make planes Y, U, V with chroma averaged over 2x2 or 2x1 pixels, or 2x3 if sited left."""
    scale, offset = scales(range_, bits)
    yuv = rgb / 255.0 @ yuv_from_rgb(matrix).T * scale + offset
    height, width = rgb.shape[:2]
    even = np.pad(yuv, ((0, height % 2 if halve_rows else 0), (0, width % 2), (0, 0)), mode="edge")
    if siting == "left":
        before = np.pad(even, ((0, 0), (1, 0), (0, 0)), mode="edge")[:, :-1]
        chroma = (before[:, 0::2] + 2 * even[:, 0::2] + even[:, 1::2]) / 4
    else:
        chroma = (even[:, 0::2] + even[:, 1::2]) / 2
    if halve_rows:
        chroma = (chroma[0::2] + chroma[1::2]) / 2

    def code(values: Doubles) -> Codes:
        dtype = np.uint8 if bits == 8 else np.uint16
        return np.clip(np.round(values), 0, 2**bits - 1).astype(dtype)

    return [code(yuv[..., 0]), code(chroma[..., 1]), code(chroma[..., 2])]


def upsample(plane: Doubles, length: int, axis: int, siting: str = "center") -> Doubles:
    """Double an axis: chroma sample k lies midway between luma samples 2k and 2k + 1, or on 2k."""
    moved = np.moveaxis(plane, axis, 0)
    shift = 0.5 if siting == "center" else 0.0
    at = np.clip((np.arange(length) - shift) / 2, 0, moved.shape[0] - 1)
    low = np.floor(at).astype(int)
    high = np.minimum(low + 1, moved.shape[0] - 1)
    share = (at - low).reshape(-1, *[1] * (moved.ndim - 1))
    return np.moveaxis(moved[low] * (1 - share) + moved[high] * share, 0, axis)


def to_rgb(
    planes: list[Codes], matrix: str, range_: str, siting: str = "center", bits: int = 8
) -> Doubles:
    """Convert to RGB on 0..255 at full resolution, in double precision, not clamped."""
    height, width = planes[0].shape
    full = [planes[0].astype(float)]
    for plane in planes[1:]:
        wide = upsample(plane.astype(float), width, 1, siting)
        full.append(wide if wide.shape[0] == height else upsample(wide, height, 0))
    scale, offset = scales(range_, bits)
    yuv = (np.stack(full, axis=2) - offset) / scale
    return yuv @ np.linalg.inv(yuv_from_rgb(matrix)).T * 255


def cubic(at: Doubles) -> Doubles:
    """Return Pillow's cubic, a = -0.5."""
    x, a = np.abs(at), -0.5
    inner = ((a + 2) * x - (a + 3)) * x * x + 1
    outer = (((x - 5) * x + 8) * x - 4) * a
    return np.where(x < 1, inner, np.where(x < 2, outer, 0))


def area_enlarged(source: int, out: int) -> Doubles:
    """Return OpenCV's weights for INTER_AREA where either axis grows: two samples along both."""
    scale = source / out
    first = np.floor(np.arange(out) * scale).astype(int)
    share = np.arange(1, out + 1) - (first + 1) / scale
    share = np.where(share <= 0, 0, share - np.floor(share))
    share[first >= source - 1] = 0
    matrix = np.zeros((out, source))
    matrix[np.arange(out), np.minimum(first, source - 1)] += 1 - share
    matrix[np.arange(out), np.minimum(first + 1, source - 1)] += share
    return matrix


def resize_matrix(source: int, out: int, filter_: str) -> Doubles:
    """Return the weights of all source samples for all outputs, by the filter's definition."""
    scale = source / out
    center = (np.arange(out) + 0.5) * scale
    if filter_ == "bilinear":
        distance = np.arange(source) + 0.5 - np.clip(center, 0.5, source - 0.5)[:, None]
        return np.maximum(0, 1 - np.abs(distance))
    if filter_ == "area":
        start, end = np.arange(out)[:, None] * scale, np.arange(1, out + 1)[:, None] * scale
        cells = np.arange(source)
        weights = np.maximum(0, np.minimum(end, cells + 1) - np.maximum(start, cells))
    else:
        distance = (np.arange(source) + 0.5 - center[:, None]) / max(scale, 1)
        triangle = np.maximum(0, 1 - np.abs(distance))
        weights = cubic(distance) if filter_ == "bicubic" else triangle
    return weights / weights.sum(axis=1, keepdims=True)


def resize_double(rgb: Doubles, size: tuple[int, int], filter_: str) -> Doubles:
    """Resize in double precision."""
    height, width = rgb.shape[:2]
    if filter_ == "area" and (size[0] > width or size[1] > height):
        matrices = area_enlarged(width, size[0]), area_enlarged(height, size[1])
    else:
        matrices = resize_matrix(width, size[0], filter_), resize_matrix(height, size[1], filter_)
    return np.einsum("yi,ijc,xj->yxc", matrices[1], rgb, matrices[0])


# Geometry, on arrays.


def orient(picture: NDArray[np.generic], case: Case) -> NDArray[np.generic]:
    """Crop, rotate clockwise, mirror."""
    if case.crop:
        x, y, width, height = case.crop
        picture = picture[y : y + height, x : x + width]
    picture = np.rot90(picture, -case.degrees // 90)
    return np.ascontiguousarray(picture[:, ::-1] if case.mirror else picture)


OPENCV = {"bilinear": cv2.INTER_LINEAR, "area": cv2.INTER_AREA}
PILLOW = {"antialias": Image.Resampling.BILINEAR, "bicubic": Image.Resampling.BICUBIC}


def resize(picture: NDArray[np.generic], size: tuple[int, int], case: Case) -> NDArray[np.generic]:
    """Resize with the library that the case is compared with."""
    if case.by.startswith("numpy"):
        return resize_double(np.asarray(picture, dtype=float), size, case.filter)
    if case.filter in OPENCV:
        return cv2.resize(picture, size, interpolation=OPENCV[case.filter])
    return np.asarray(Image.fromarray(picture).resize(size, PILLOW[case.filter]))


def fitted(picture: NDArray[np.generic], case: Case) -> NDArray[np.generic]:
    """Resize a picture that is upright as the case's fit says."""
    height, width = picture.shape[:2]
    out_width, out_height = case.out
    kind, _, argument = case.fit.partition(":")
    if kind == "letterbox":
        scale = min(out_width / width, out_height / height)
        size = max(round(width * scale), 1), max(round(height * scale), 1)
        left, top = (out_width - size[0]) // 2, (out_height - size[1]) // 2
        out = np.empty((out_height, out_width, 3), picture.dtype)
        out[:] = [int(value) for value in argument.split(",")]
        out[top : top + size[1], left : left + size[0]] = resize(picture, size, case)
        return out
    if kind == "center_crop":
        # timm's transforms_imagenet_eval: torchvision's Resize and CenterCrop.
        shorter = int(out_width / float(argument))
        size = (
            (shorter, int(shorter * height / width))
            if width <= height
            else (int(shorter * width / height), shorter)
        )
        left, top = round((size[0] - out_width) / 2), round((size[1] - out_height) / 2)
        return resize(picture, size, case)[top : top + out_height, left : left + out_width]
    return resize(picture, case.out, case)


ORIENTATIONS = [(degrees, mirror) for degrees in (0, 90, 180, 270) for mirror in (False, True)]
ODD_CROP = (11, 7, 71, 43)


def rgb_cases(writer: Writer) -> None:
    """Compare RGB with what Pillow and OpenCV make of the same bytes, to the last bit."""
    size, large = (WIDTH, HEIGHT), (1280, 720)
    (HERE / "cat.rgb").write_bytes(cat().tobytes())
    cat_cases = [
        Case("not resized", "cat.rgb", size, (17, 13), crop=(11, 7, 17, 13)),
        Case("shrunk", "cat.rgb", size, (20, 14)),
        Case("shrunk a lot", "cat.rgb", size, (5, 3)),
        Case("to one pixel", "cat.rgb", size, (1, 1)),
        Case("to one column", "cat.rgb", size, (1, 21)),
        Case("to one row", "cat.rgb", size, (35, 1)),
        Case("shrunk across and enlarged down", "cat.rgb", size, (8, 70)),
        Case("enlarged from an odd crop", "cat.rgb", size, (24, 18), crop=(11, 7, 9, 5)),
        Case("enlarged from one pixel", "cat.rgb", size, (3, 2), crop=(96, 60, 1, 1)),
        Case("of one column", "cat.rgb", size, (3, 20), crop=(96, 0, 1, 61)),
        Case("of one row", "cat.rgb", size, (33, 4), crop=(0, 60, 97, 1)),
        Case("letterbox, wide", "cat.rgb", size, (18, 18), fit="letterbox:114,20,230"),
        Case("letterbox, tall", "cat.rgb", size, (18, 19), fit="letterbox:0,0,0", degrees=90),
        Case(
            "letterbox of a line", "cat.rgb", size, (16, 16), (0, 30, 97, 1), fit="letterbox:1,2,3"
        ),
        Case("centre crop, wide", "cat.rgb", size, (16, 16), fit="center_crop:0.875"),
        Case("centre crop, tall", "cat.rgb", size, (16, 16), fit="center_crop:0.8", degrees=270),
        Case(
            "centre crop, enlarged",
            "cat.rgb",
            size,
            (18, 18),
            (3, 5, 20, 31),
            fit="center_crop:1.0",
        ),
        Case("centre crop of a large frame", "wave.rgb", large, (18, 18), fit="center_crop:0.875"),
    ]
    cat_cases += [
        Case(f"turned {degrees}, mirror {mirror}", "cat.rgb", size, (16, 11), ODD_CROP, *turn)
        for turn in ORIENTATIONS
        for degrees, mirror in [turn]
    ]
    # Noise reaches beyond the range of bytes where a filter overshoots, and shows every bit.
    noise_cases = [
        Case(name, "noise.rgb", (96, 60), out)
        for name, out in (
            ("a third", (32, 20)),
            ("a quarter across, a fifth down", (24, 12)),
            ("as wide", (96, 7)),
            ("as high", (9, 60)),
            ("a pixel less", (95, 11)),
            # Pillow goes down the columns first if the height shrinks by twice as much.
            ("down the columns first", (86, 11)),
            ("wider and lower", (101, 5)),
            ("narrower and higher", (13, 67)),
        )
    ]
    noise_cases += [
        Case("a large frame", "noise.rgb", (1920, 1080), (33, 19)),
        Case("halved", "noise.rgb", (50, 28), (25, 14)),
        Case("doubled", "noise.rgb", (12, 8), (24, 16)),
        Case("enlarged", "noise.rgb", (37, 9), (41, 13)),
        Case("enlarged a lot", "noise.rgb", (3, 2), (35, 9)),
        Case("two pixels", "noise.rgb", (2, 1), (17, 3)),
        *(
            Case(
                f"turned {turn[0]}, mirror {turn[1]}", "noise.rgb", (51, 37), (24, 11), None, *turn
            )
            for turn in ORIENTATIONS
        ),
    ]
    sources = {"cat.rgb": lambda *_: cat(), "wave.rgb": wave_rgb, "noise.rgb": noise_rgb}
    for filter_ in (*PILLOW, *OPENCV):
        for case in cat_cases + noise_cases:
            case.filter, case.by = filter_, "pillow" if filter_ in PILLOW else "opencv"
            writer.add(case, fitted(orient(sources[case.source](*case.size), case), case))


def yuv_cases(writer: Writer) -> None:
    """Compare YUV with converting and then resizing in double precision."""
    size = (WIDTH, HEIGHT)
    cases = []
    for matrix in WEIGHTS:
        for range_ in ("limited", "full"):
            name = f"cat-{matrix}-{range_}.i420"
            cases.append(
                Case(f"{matrix} {range_}", name, size, (20, 13), matrix=matrix, range=range_)
            )
    i420, left = "cat-bt601-limited.i420", "cat-bt709-limited-left.i420"
    cases += [
        *(Case(filter_, i420, size, (20, 13), filter=filter_) for filter_ in (*OPENCV, "bicubic")),
        Case("not resized", i420, size, (17, 13), crop=(11, 7, 17, 13)),
        Case("not resized, at the edge", i420, size, (16, 16), crop=(81, 45, 16, 16)),
        *(
            Case(f"enlarged, {filter_}", i420, size, (16, 12), crop=(11, 7, 9, 5), filter=filter_)
            for filter_ in (*PILLOW, *OPENCV)
        ),
        Case("to one pixel", i420, size, (1, 1)),
        Case("of one pixel", i420, size, (3, 2), crop=(50, 33, 1, 1)),
        Case("letterbox", i420, size, (14, 14), fit="letterbox:114,114,114"),
        Case("centre crop", i420, size, (14, 14), fit="center_crop:0.875"),
        Case("yuyv", "cat.yuyv", size, (20, 13)),
        Case("yuyv, not resized", "cat.yuyv", size, (17, 13), crop=(11, 7, 17, 13)),
        Case("yuyv, bilinear", "cat.yuyv", size, (20, 13), filter="bilinear"),
        Case("large frame", "wave.i420", (1280, 720), (16, 16), fit="center_crop:0.875"),
        Case("large frame, bilinear", "wave.i420", (1280, 720), (16, 16), filter="bilinear"),
        Case("large frame, area", "wave.i420", (1280, 720), (16, 16), filter="area"),
    ]
    for case in (
        Case("sited left", left, size, (20, 13)),
        Case("sited left, bilinear", left, size, (20, 13), filter="bilinear"),
        Case("sited left, not resized", left, size, (17, 13), crop=(11, 7, 17, 13)),
        Case("sited left, at the edges", left, size, (97, 5), crop=(0, 28, 97, 5)),
        Case("sited left, turned", left, size, (10, 12), ODD_CROP, 90, True),
    ):
        case.matrix, case.siting = "bt709", "left"
        cases.append(case)
    for case in (
        Case("p010", "cat-bt2020-limited.p010", size, (20, 13)),
        Case("p010, bilinear", "cat-bt2020-limited.p010", size, (20, 13), filter="bilinear"),
        Case("p010, full range", "cat-bt2020-full.p010", size, (20, 13), range="full"),
        Case("p010, sited left", "cat-bt2020-limited-left.p010", size, (20, 13), siting="left"),
        Case("p010, not resized", "cat-bt2020-full.p010", size, (17, 13), (11, 7, 17, 13)),
        Case("p010, turned", "cat-bt2020-limited.p010", size, (10, 12), ODD_CROP, 270, True),
    ):
        case.matrix = "bt2020"
        case.range = "full" if "full" in case.source else "limited"
        cases.append(case)
    cases += [
        Case(f"turned {degrees}, mirror {mirror}", i420, size, (10, 12), ODD_CROP, degrees, mirror)
        for degrees, mirror in ORIENTATIONS
    ]
    for case in cases:
        if case.source != "wave.i420":
            (HERE / case.source).write_bytes(packed(planes_of(case), case.source))
        # Resampling before conversion clamps at the end; convert-then-resize clamps before.
        bits = 10 if case.source.endswith("p010") else 8
        rgb = to_rgb(planes_of(case), case.matrix, case.range, case.siting, bits)
        case.by = "numpy"
        writer.add(case, np.clip(fitted(orient(rgb, case), case), 0, 255))
        if "turned" in case.name:
            continue
        case.by = "numpy, clamped first"
        expected = fitted(orient(np.clip(rgb, 0, 255), case), case)
        writer.add(case, np.clip(expected, 0, 255))

    # The same through libraries alone. OpenCV repeats chroma instead of interpolating it.
    for case in (
        Case("libraries", "wave.i420", (1280, 720), (16, 16), fit="center_crop:0.875"),
        Case("libraries, turned", "wave.i420", (640, 480), (16, 12), degrees=90, mirror=True),
    ):
        stacked = np.concatenate([plane.ravel() for plane in planes_of(case)])
        rgb = cv2.cvtColor(
            stacked.reshape(case.size[1] * 3 // 2, case.size[0]), cv2.COLOR_YUV2RGB_I420
        )
        writer.add(case, fitted(orient(rgb, case), case))


def planes_of(case: Case) -> list[Codes]:
    """Return Y, U, V of a case's source."""
    if case.source == "wave.i420":
        return wave_yuv(*case.size)
    layout = case.source.rpartition(".")[2]
    bits = 10 if layout == "p010" else 8
    return to_yuv(cat(), case.matrix, case.range, layout != "yuyv", case.siting, bits)


def packed(planes: list[Codes], name: str) -> bytes:
    """Pack planes in one buffer, in the layout that the file's name ends with."""
    y, u, v = planes
    layout = name.rpartition(".")[2]
    if layout == "p010":
        # Little-endian, the value in the high ten of sixteen bits.
        values = np.concatenate([y.ravel(), np.stack([u, v], axis=2).ravel()])
        return (values.astype(np.uint16) << 6).astype("<u2").tobytes()
    if layout == "yuyv":
        y = np.pad(y, ((0, 0), (0, 1)), mode="edge")
        return np.stack([y[:, 0::2], u, y[:, 1::2], v], axis=2).tobytes()
    return b"".join(plane.tobytes() for plane in planes)


# Photo files.


def exif(orientation: int) -> bytes:
    """Make an EXIF block with nothing but the orientation."""
    block = Image.Exif()
    block[0x0112] = orientation
    return block.tobytes()


def stored(upright: Image.Image, orientation: int) -> Image.Image:
    """Return the pixels that a file with this orientation holds: what a viewer does, undone."""
    transpose = Image.Transpose
    inverse = {
        2: transpose.FLIP_LEFT_RIGHT,
        3: transpose.ROTATE_180,
        4: transpose.FLIP_TOP_BOTTOM,
        5: transpose.TRANSPOSE,
        6: transpose.ROTATE_90,
        7: transpose.TRANSVERSE,
        8: transpose.ROTATE_270,
    }
    return upright.transpose(inverse[orientation]) if orientation in inverse else upright


def png_chunk(kind: bytes, data: bytes) -> bytes:
    """Make one chunk of a PNG file."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def interlaced_png(pixels: Bytes) -> bytes:
    """Make an interlaced PNG file (Adam7), which Pillow does not write."""
    passes = [
        pixels[0::8, 0::8],
        pixels[0::8, 4::8],
        pixels[4::8, 0::4],
        pixels[0::4, 2::4],
        pixels[2::4, 0::2],
        pixels[0::2, 1::2],
        pixels[1::2, 0::1],
    ]
    data = b"".join(b"\0" + row.tobytes() for part in passes for row in part if row.size)
    height, width = pixels.shape[:2]
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 1)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(data)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(png_chunk(kind, data) for kind, data in chunks)


def oriented_photos(upright: Image.Image) -> None:
    """Write files with each EXIF orientation."""
    for orientation in range(1, 9):
        picture, tag = stored(upright, orientation), exif(orientation)
        path = PHOTOS / f"exif-{orientation}"
        picture.save(path.with_suffix(".jpg"), exif=tag, quality=92, subsampling=0)
        picture.save(path.with_suffix(".webp"), exif=tag, lossless=True)
        picture.save(path.with_suffix(".png"), exif=tag)
    upright.save(PHOTOS / "exif-9.jpg", exif=exif(9), quality=92, subsampling=0)


def jpeg_photos(upright: Image.Image) -> None:
    """Write JPEG files of many kinds."""
    upright.save(PHOTOS / "progressive.jpg", progressive=True, quality=92, subsampling=0)
    upright.save(PHOTOS / "chroma-halved.jpg", quality=92, subsampling=2)
    upright.save(PHOTOS / "progressive-halved.jpg", progressive=True, quality=70, subsampling=2)
    upright.save(PHOTOS / "restarts.jpg", quality=80, subsampling=1, restart_marker_blocks=3)
    upright.save(PHOTOS / "colours-rgb.jpg", quality=80, keep_rgb=True)
    upright.save(PHOTOS / "coarse.jpg", quality=5, subsampling=2)
    upright.save(PHOTOS / "finest.jpg", quality=100, subsampling=0, optimize=True)
    for name, factors in (("440", 0x121111), ("411", 0x411111)):
        sampling = [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, factors]
        encoded = cv2.imencode(".jpg", np.asarray(upright)[..., ::-1], sampling)[1]
        (PHOTOS / f"sampling-{name}.jpg").write_bytes(encoded.tobytes())
    for width, height in ((1, 1), (2, 3), (5, 17), (33, 9)):
        part = upright.crop((20, 10, 20 + width, 10 + height))
        part.save(PHOTOS / f"odd-{width}x{height}.jpg", quality=85, subsampling=2)
    upright.convert("L").save(PHOTOS / "grey.jpg", quality=92)
    upright.convert("L").save(PHOTOS / "grey-progressive.jpg", quality=60, progressive=True)

    upright.convert("CMYK").save(PHOTOS / "cmyk.jpg", quality=92)
    # The same numbers, said to be YCCK: Adobe's segment ends with the transform.
    cmyk = (PHOTOS / "cmyk.jpg").read_bytes()
    transform = cmyk.index(b"Adobe") + 11
    (PHOTOS / "ycck.jpg").write_bytes(cmyk[:transform] + b"\x02" + cmyk[transform + 1 :])


def png_photos(upright: Image.Image) -> None:
    """Write PNG files of many kinds."""
    pixels = np.asarray(upright)
    (PHOTOS / "interlaced.png").write_bytes(interlaced_png(pixels))
    alpha = Image.fromarray(np.tile(np.linspace(0, 255, 60).astype(np.uint8), (40, 1)))
    with_alpha = upright.copy()
    with_alpha.putalpha(alpha)
    with_alpha.save(PHOTOS / "rgba.png")
    Image.merge("LA", (upright.convert("L"), alpha)).save(PHOTOS / "grey-alpha.png")
    few = upright.quantize(32)
    few.save(PHOTOS / "palette.png")
    few.save(PHOTOS / "palette-transparent.png", transparency=3)
    upright.quantize(4).save(PHOTOS / "palette-2-bits.png", bits=2)

    # Any lower 8 bits.
    noise = np.arange(pixels.size, dtype=np.uint16).reshape(pixels.shape) * 37 % 256
    deep = pixels * np.uint16(256) + noise
    deep_alpha = np.dstack([deep[..., ::-1], deep[..., :1]])
    grey = np.asarray(upright.convert("L"))
    (PHOTOS / "rgb-16.png").write_bytes(cv2.imencode(".png", deep[..., ::-1])[1].tobytes())
    (PHOTOS / "rgba-16.png").write_bytes(cv2.imencode(".png", deep_alpha)[1].tobytes())
    deep_grey = grey * np.uint16(256) + noise[..., 0]
    (PHOTOS / "grey-16.png").write_bytes(cv2.imencode(".png", deep_grey)[1].tobytes())
    (PHOTOS / "grey.raw").write_bytes(grey.tobytes())

    Image.new("RGB", (1, 1), (200, 100, 50)).save(PHOTOS / "one-pixel.png")
    # 30000x30000 in a few bytes.
    header = struct.pack(">IIBBBBB", 30000, 30000, 8, 2, 0, 0, 0)
    bomb = io.BytesIO(b"\x89PNG\r\n\x1a\n")
    bomb.seek(0, io.SEEK_END)
    for kind, data in ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(1000))), (b"IEND", b"")):
        bomb.write(png_chunk(kind, data))
    (PHOTOS / "bomb.png").write_bytes(bomb.getvalue())


def reduced(path: Path, part: int) -> Bytes:
    """Decode a JPEG file to a half, a quarter or an eighth, with libjpeg-turbo by way of OpenCV."""
    flags = {
        1: cv2.IMREAD_COLOR,
        2: cv2.IMREAD_REDUCED_COLOR_2,
        4: cv2.IMREAD_REDUCED_COLOR_4,
        8: cv2.IMREAD_REDUCED_COLOR_8,
    }
    return cv2.imread(str(path), flags[part])[..., ::-1]


def expected_photos() -> None:
    """Write size and CRC-32 of what other libraries make of each file; JPEG also reduced."""
    lines = []
    for path in sorted(PHOTOS.iterdir()):
        if path.suffix not in (".jpg", ".png", ".webp", ".gif", ".bmp") or path.name == "bomb.png":
            continue
        picture = Image.open(path)
        # Pillow clips 16-bit grey.
        deep_grey = picture.mode == "I;16"
        rgb = reduced(path, 1) if deep_grey else ImageOps.exif_transpose(picture).convert("RGB")
        parts = {1: np.asarray(rgb)}
        if path.suffix == ".jpg" and picture.mode != "CMYK":
            smaller = None
            for part in (8, 4, 2):
                pixels = reduced(path, part)
                # By its size alone, one would get the smaller.
                if pixels.shape != smaller:
                    parts[part] = pixels
                smaller = pixels.shape
        for part, pixels in parts.items():
            height, width = pixels.shape[:2]
            crc = zlib.crc32(np.ascontiguousarray(pixels).tobytes())
            lines.append(f"{path.name}\t{part}\t{width}\t{height}\t{crc:08x}\n")
    (PHOTOS / "expected.tsv").write_text("".join(lines))


def photos() -> None:
    """Write image files that all show the same cup, and some that must be refused."""
    PHOTOS.mkdir(exist_ok=True)
    pixels = coffee()
    upright = Image.fromarray(pixels)
    (PHOTOS / "upright.rgb").write_bytes(pixels.tobytes())
    oriented_photos(upright)
    jpeg_photos(upright)
    png_photos(upright)

    upright.save(PHOTOS / "plain.bmp")
    upright.save(PHOTOS / "lossless.webp", lossless=True)
    upright.save(PHOTOS / "lossy.webp", quality=80)
    few = upright.quantize(32)
    few.convert("RGB").quantize(32).save(
        PHOTOS / "animated.gif", save_all=True, append_images=[few.rotate(180)], duration=100
    )
    expected_photos()


def main() -> None:
    """Write everything."""
    writer = Writer()
    rgb_cases(writer)
    yuv_cases(writer)
    writer.save()
    photos()


if __name__ == "__main__":
    main()
