"""Transformers' own model of a folder: the reference, and where weights are taken from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import torch

from nearside_export.errors import SourceError
from nearside_export.sources.model import QuantisedBlocks

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def load(kind: type[PreTrainedModel], folder: Path) -> PreTrainedModel:
    """Load a folder as ``kind``, f32, in eager attention.

    `SourceError` where a parameter is missing or has another shape: transformers would make up
    random numbers for it and say so in a log only.
    """
    try:
        model, found = kind.from_pretrained(
            folder,
            dtype=torch.float32,
            attn_implementation="eager",
            local_files_only=True,
            output_loading_info=True,
        )
    except (OSError, ValueError, RuntimeError, KeyError, TypeError) as error:
        raise SourceError(f"transformers cannot load {folder}: {error}") from error
    for what, names in (
        ("misses", found["missing_keys"]),
        ("has no place for", found["unexpected_keys"]),
        ("has of another shape", found["mismatched_keys"]),
    ):
        if names:
            shown = ", ".join(sorted(str(n) for n in names)[:5])
            raise SourceError(
                f"{folder} and its config.json do not belong together: the model {what} "
                f"{len(names)} tensors ({shown}). Fetch the whole model again"
            )
    return model.eval().requires_grad_(False)


class StateDict:
    """Weights of a loaded model, shared with it, as `nearside_export.sources.model.Tensors`."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._weights = model.state_dict()

    def names(self) -> list[str]:
        """Give all names."""
        return list(self._weights)

    def shape(self, name: str) -> tuple[int, ...]:
        """Give the shape of a tensor that exists."""
        return tuple(self._weights[name].shape)

    def load(self, name: str) -> torch.Tensor:
        """Give a tensor that exists, f32."""
        return self._weights[name]

    def blocks(self, name: str) -> QuantisedBlocks | None:
        """Give nothing: the weights are plain."""
        del name
        return None
