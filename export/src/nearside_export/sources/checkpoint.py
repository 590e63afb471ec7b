"""A torch checkpoint with a named architecture: an image classifier of one's own training."""

from __future__ import annotations

import pickle
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from nearside_export.architectures import registry, timm_classifier
from nearside_export.architectures.classifier import Classifier
from nearside_export.errors import SourceError, UsageError
from nearside_export.image_spec import ImageSpec
from nearside_export.manifest import ClassifyGate
from nearside_export.sources.safetensors import SafeTensors, finite

GATES = {
    "int8": ClassifyGate(top1_agreement=0.95),
    "fp16": ClassifyGate(top1_agreement=0.98),
    "fp32": ClassifyGate(top1_agreement=1.0),
}
_NESTS = ("state_dict", "model_state_dict", "model")
"""Where training scripts put the weights inside what they save."""

_WRAPPERS = ("module.", "_orig_mod.")
"""What DataParallel and torch.compile put before every name."""

_SHOWN = 3


def open_checkpoint(
    path: Path, architecture: str, labels: Path | None, licence: str | None, name: str | None
) -> Classifier:
    """Make a classifier of a checkpoint: ``.pt`` or ``.pth`` (a state dict) or ``.safetensors``.

    ``architecture`` is a registered name or ``timm/NAME``; ``labels`` a text file, line i = class
    i. `UsageError` for what is not given or unknown, `SourceError` for a file that is damaged or
    belongs to another network.
    """
    if labels is None:
        raise UsageError("a checkpoint needs --labels: a text file with one class name a line")
    if licence is None:
        raise UsageError("a checkpoint states no licence: give it with --licence (SPDX)")
    names = read_labels(labels)
    weights = read_state_dict(path)
    spec = _load(architecture, weights, len(names), path)[1]

    def load() -> torch.nn.Module:
        return _load(architecture, weights, len(names), path)[0]

    return Classifier(
        name=name or path.stem,
        licence=licence,
        source=f"torch checkpoint {path.name}; architecture {architecture}; labels {labels.name}",
        image=spec,
        load=load,
        labels=lambda: list(names),
        gates=dict(GATES),
    )


def read_labels(path: Path) -> list[str]:
    """Class names of a text file, line i = class i."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"cannot read {path}: {error}. Give one class name a line") from error
    names = [line.strip() for line in lines]
    while names and not names[-1]:
        names.pop()
    if len(names) < 2:
        raise SourceError(f"{path} has {len(names)} labels; a classifier has at least 2")
    if "" in names:
        raise SourceError(f"{path}: line {names.index('') + 1} is empty; every class needs a name")
    return names


def read_state_dict(path: Path) -> dict[str, torch.Tensor]:
    """Weights of a checkpoint by name, without the wrappers of training scripts.

    No code that is inside the file is run.
    """
    if path.suffix == ".safetensors":
        tensors = SafeTensors([path])
        read = {name: tensors.counter(name) for name in tensors.names()}
        return {n: tensors.load(n) if whole is None else whole for n, whole in read.items()}
    saved = _unpickle(path)
    for nest in _NESTS:
        if isinstance(saved, Mapping) and isinstance(saved.get(nest), Mapping):
            saved = saved[nest]
    tensors = saved if isinstance(saved, Mapping) else {}
    if not tensors or not all(isinstance(k, str) and _is_plain(v) for k, v in tensors.items()):
        raise SourceError(
            f"{path} holds no state dict of plain tensors. Save one: "
            "torch.save(model.state_dict(), PATH)"
        )
    for wrapper in _WRAPPERS:
        if all(name.startswith(wrapper) for name in tensors):
            tensors = {name.removeprefix(wrapper): value for name, value in tensors.items()}
    return {
        name: finite(value, name, path) if value.is_floating_point() else value
        for name, value in tensors.items()
    }


def _is_plain(value: object) -> bool:
    """Whether it is a tensor with values, dense and unquantised."""
    return (
        isinstance(value, torch.Tensor)
        and value.layout == torch.strided
        and not value.is_meta
        and not value.is_quantized
    )


def _unpickle(path: Path) -> Any:  # noqa: ANN401
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise SourceError(f"{path} is missing. Give the path of a checkpoint") from None
    except pickle.UnpicklingError as error:
        raise SourceError(
            f"{path} is no plain state dict: loading it would run code from the file, or it is "
            "damaged. Save the weights alone: torch.save(model.state_dict(), PATH)"
        ) from error
    except (OSError, EOFError, RuntimeError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise SourceError(f"{path} is damaged or no checkpoint: {error}") from error


def _load(
    architecture: str, weights: dict[str, torch.Tensor], classes: int, path: Path
) -> tuple[torch.nn.Module, ImageSpec]:
    if architecture.startswith(timm_classifier.PREFIX):
        name = architecture.removeprefix(timm_classifier.PREFIX)
        model = timm_classifier.build(name, classes)
        spec = timm_classifier.image_spec(model, name)
    else:
        known = registry.classifier(architecture)
        if known.build is None:
            raise UsageError(f"architecture {architecture!r} takes no other weights")
        model, spec = known.build(classes), known.image
    _check(model, weights, classes, path)
    model.load_state_dict(weights)
    return model.eval(), spec


def _check(
    model: torch.nn.Module, weights: dict[str, torch.Tensor], classes: int, path: Path
) -> None:
    want = model.state_dict()
    for problem, names in (
        ("lacks", sorted(want.keys() - weights.keys())),
        ("has what the architecture does not:", sorted(weights.keys() - want.keys())),
    ):
        if names:
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            raise SourceError(
                f"{path} {problem} {', '.join(names[:_SHOWN])}{more}: it is of another network. "
                "Give its own --architecture"
            )
    for name, tensor in want.items():
        if weights[name].shape != tensor.shape:
            raise SourceError(
                f"{path}: tensor {name!r} has shape {list(weights[name].shape)}, the architecture "
                f"with {classes} labels asks for {list(tensor.shape)}. Give the labels and the "
                "--architecture that it was trained with"
            )
