"""Transformers' own model of a folder: the reference, and where weights are taken from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from nearside_export.errors import ExportError, SourceError
from nearside_export.sources.model import QuantisedBlocks

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def load(kind: type[PreTrainedModel], folder: Path) -> PreTrainedModel:
    """Load a folder as ``kind``, f32, in eager attention.

    `SourceError` where a parameter is missing or has another shape: transformers would make up
    random numbers for it and say so in a log only.
    """
    from transformers.utils import logging

    logging.disable_progress_bar()
    try:
        model, found = kind.from_pretrained(
            folder,
            dtype=torch.float32,
            attn_implementation="eager",
            local_files_only=True,
            output_loading_info=True,
        )
    except Exception as error:  # A wrong value can raise anything inside of transformers.
        raise _unloadable(folder, error) from error
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
    for name, weight in model.state_dict().items():
        if weight.is_floating_point() and not bool(torch.isfinite(weight).all()):
            raise SourceError(
                f"{folder}: tensor {name!r} has values that are NaN or infinite. Fetch it again"
            )
    return model.eval().requires_grad_(False)


@contextmanager
def faults_of(folder: Path) -> Iterator[None]:
    """Let what a wrong value in ``folder`` makes fail, wherever it is, be a `SourceError`."""
    try:
        yield
    except ExportError:
        raise
    except Exception as error:
        raise _unloadable(folder, error) from error


def _unloadable(folder: Path, error: Exception) -> SourceError:
    said = " ".join(f"{type(error).__name__}: {error}".split())
    return SourceError(
        f"no model can be made of {folder}, whose config.json has a wrong value or belongs to "
        f"other weights ({said[:300]}). Fetch the whole model again"
    )


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
