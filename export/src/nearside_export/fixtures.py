"""Tiny programs that the tests of the runtime and the bindings load."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch.export import Dim

from nearside_export.architectures.tiny_colour import TINY_COLOUR
from nearside_export.errors import ExportError
from nearside_export.lower import portable, xnnpack
from nearside_export.package import SUFFIX, staged_files
from nearside_export.tasks import classify

SEED = 20262


class Add(torch.nn.Module):
    """Two f32 ``[2, 3]`` to their sum, f32 ``[2, 3]``."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Return ``a + b``."""
        return a + b


class Mlp(torch.nn.Module):
    """f32 ``[batch, 16]`` to f32 ``[batch, 4]``: two linear layers and a ReLU."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = torch.nn.Linear(16, 8)
        self.out = torch.nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the output layer's values."""
        return self.out(torch.relu(self.hidden(x)))


class Negate(torch.nn.Module):
    """f32 ``[2, 3]`` to its negative."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return ``-x``."""
        return -x


class Twice(torch.nn.Module):
    """f32 ``[2, 3]`` to its double."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return ``x + x``."""
        return x + x


@dataclass(frozen=True)
class TensorValue:
    """An f32 tensor: its shape and its values in row-major order."""

    shape: list[int]
    values: list[float]

    @classmethod
    def of(cls, tensor: torch.Tensor) -> TensorValue:
        """Copy a tensor's values; f32 to JSON and back is exact."""
        return cls(shape=list(tensor.shape), values=tensor.flatten().tolist())


@dataclass(frozen=True)
class Case:
    """One call of ``method`` in ``file`` and what eager PyTorch returns for it."""

    file: str
    method: str
    inputs: list[TensorValue]
    outputs: list[TensorValue]


def export(out: Path, command: str) -> None:
    """Write the programs, ``fixtures.json`` and the tiny classifier package into ``out``."""
    with staged_files(out) as folder:
        cases = [*_add(folder), *_mlp(folder), *_multi(folder)]
        text = json.dumps({"cases": [asdict(c) for c in cases]}, indent=1)
        (folder / "fixtures.json").write_text(text + "\n", encoding="utf-8")
        package = folder / f"{TINY_COLOUR.name}{SUFFIX}"
        classify.export_package(TINY_COLOUR, ["fp32"], package, command)


def _add(folder: Path) -> list[Case]:
    inputs = (torch.arange(6.0).reshape(2, 3), torch.full((2, 3), 0.5))
    lowered = portable.lower({"forward": torch.export.export(Add(), inputs)})
    (folder / "add.pte").write_bytes(lowered.pte)
    return [_case("add.pte", "forward", Add(), inputs)]


def _mlp(folder: Path) -> list[Case]:
    torch.manual_seed(SEED)
    model = Mlp().eval()
    batch = Dim("batch", min=1, max=8)
    program = torch.export.export(model, (torch.zeros(2, 16),), dynamic_shapes={"x": {0: batch}})
    lowered = xnnpack.lower(program)
    if lowered.operators:
        raise ExportError(f"XNNPACK left {lowered.operators} of the MLP on portable kernels")
    (folder / "mlp-xnnpack.pte").write_bytes(lowered.pte)
    # A generator of their own: exporting may draw from the global one.
    generator = torch.Generator().manual_seed(SEED)
    batches = [torch.randn(size, 16, generator=generator) for size in (1, 3, 8)]
    return [_case("mlp-xnnpack.pte", "forward", model, (x,)) for x in batches]


def _multi(folder: Path) -> list[Case]:
    x = torch.arange(6.0).reshape(2, 3)
    models = {"forward": Negate(), "twice": Twice()}
    methods = {name: torch.export.export(model, (x,)) for name, model in models.items()}
    (folder / "multi.pte").write_bytes(portable.lower(methods).pte)
    return [_case("multi.pte", name, model, (x,)) for name, model in models.items()]


def _case(file: str, method: str, model: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> Case:
    with torch.no_grad():
        output = model(*inputs)
    return Case(file, method, [TensorValue.of(i) for i in inputs], [TensorValue.of(output)])
