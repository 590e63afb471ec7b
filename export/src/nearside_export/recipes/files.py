"""Files of a tiny model folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

SEED = 20260101
CARD = "---\nlicense: apache-2.0\n---\nRandom weights, written by `nearside-export tiny`.\n"


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write ``content`` with two-space indentation and a last newline."""
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def write_weights(
    folder: Path,
    shapes: Mapping[str, tuple[int, ...]],
    scale: Callable[[str, tuple[int, ...]], tuple[float, float]],
) -> None:
    """Write ``model.safetensors``: f32, mean and standard deviation of each tensor by ``scale``.

    Tensors are drawn in the order of their names, from one generator.
    """
    from safetensors.torch import save_file

    generator = torch.Generator().manual_seed(SEED)
    tensors = {}
    for name in sorted(shapes):
        mean, deviation = scale(name, shapes[name])
        drawn = torch.randn(shapes[name], generator=generator)
        tensors[name] = (mean + deviation * drawn).contiguous()
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def write_card(folder: Path) -> None:
    """Write the model card with the licence."""
    (folder / "README.md").write_text(CARD, encoding="utf-8")
