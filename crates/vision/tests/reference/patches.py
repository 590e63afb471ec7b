"""Write patches.tsv, what the tests of patches compare with, computed by transformers.

Run it in a virtual environment with the packages of requirements.txt. It takes no arguments, writes
beside itself, and gives the same bytes each time. A row is a picture (that of `wave_rgb` or
`noise_rgb`, or only its size), what the encoder takes, and what transformers' Gemma 4 processor
makes of it: columns and rows of patches, tokens, and the CRC-32 of all patches, padded, as bytes on
0..255, and of all positions as little-endian i64. The processor is the one that resizes with
Pillow; the one that resizes with torchvision differs from it by 2/255 at most.
"""

import random
import zlib

import numpy as np
from generate import HERE, noise_rgb, times, wave_rgb
from transformers.models.gemma4.image_processing_pil_gemma4 import (
    Gemma4ImageProcessorPil,
    get_aspect_ratio_preserving_size,
)

PICTURES = {"wave": wave_rgb, "noise": noise_rgb}


def size_row(size: tuple[int, int], side: int, multiple: int, tokens: int) -> str:
    """Make the row of a picture of which only the size is known."""
    width, height = size
    most = tokens * multiple**2
    down, across = get_aspect_ratio_preserving_size(height, width, side, most, multiple)
    grid = [across // side, down // side, across * down // (side * multiple) ** 2]
    row = ["size", times(size), *map(str, (side, multiple, tokens, *grid)), "-", "-"]
    return "\t".join(row)


def picture_row(source: str, size: tuple[int, int], side: int, multiple: int, tokens: int) -> str:
    """Make the row of a picture."""
    processor = Gemma4ImageProcessorPil(
        patch_size=side, pooling_kernel_size=multiple, max_soft_tokens=tokens
    )
    made = processor(images=[PICTURES[source](*size)], return_tensors="np")
    values = made["pixel_values"][0] * 255
    pixels = np.round(values).astype(np.uint8)
    assert values.shape == (tokens * multiple**2, side * side * 3)
    assert np.abs(values - pixels).max() < 1e-4
    positions = made["image_position_ids"][0].astype("<i8")
    columns, rows = positions.max(axis=0) + 1
    made_tokens = made["num_soft_tokens_per_image"][0]
    sums = [f"{zlib.crc32(data.tobytes()):08x}" for data in (pixels, positions)]
    numbers = (side, multiple, tokens, columns, rows, made_tokens)
    return "\t".join([source, times(size), *map(str, numbers), *sums])


def main() -> None:
    """Write the file."""
    rows = [
        picture_row("noise", size, 4, 2, tokens)
        for tokens in (70, 140)
        for size in ((97, 61), (61, 97), (2, 2), (500, 5), (5, 500), (2, 999), (64, 64), (200, 40))
    ]
    rows += [
        picture_row(source, size, 16, 3, tokens)
        for source, size, tokens in (
            ("wave", (640, 480), 70),
            ("wave", (480, 640), 140),
            ("wave", (1920, 1080), 280),
            # As large as it is to be.
            ("noise", (768, 768), 280),
            ("noise", (912, 672), 280),
            ("noise", (33, 47), 280),
            ("wave", (700, 2), 280),
            ("wave", (801, 603), 560),
            ("wave", (333, 1000), 1120),
        )
    ]
    chance = random.Random(4)
    for _ in range(150):
        size = (round(10 ** chance.uniform(0, 4)), round(10 ** chance.uniform(0, 4)))
        rows.append(size_row(size, 16, 3, chance.choice((70, 140, 280))))
    rows += [
        size_row((width, height), 16, 3, 280)
        for width, height in ((4080, 3072), (3072, 4080), (1, 10000), (10000, 1), (17, 280 * 17))
    ]
    (HERE / "patches.tsv").write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
