"""The signatures of the operators that ExecuTorch's kernel libraries register, and of ours.

The runtime checks the kernel calls of a program against this table before ExecuTorch, which trusts
them, sees the file.
"""

from __future__ import annotations

import ctypes
from importlib.metadata import version
from pathlib import Path
from typing import ClassVar

import executorch.exir  # registers dim_order_ops, et_copy and executorch_prim
import executorch.kernels.quantized  # registers quantized_decomposed's out variants
import torch
from executorch.exir import dim_order_utils  # noqa: F401

from nearside_export import ops
from nearside_export.errors import DiskError, ExportError

TABLE = Path("crates/runtime/src/operators/signatures.txt")

LIBRARIES = (
    "libexecutorch.so",
    "libexecutorch_kernels_optimized.so",
    "libexecutorch_kernels_quantized.so",
)

# executorch::runtime::get_registered_kernels()
REGISTERED_KERNELS = "_ZN10executorch7runtime22get_registered_kernelsEv"

# Kernels without a schema in Python, by what kernels/prim_ops reads from its arguments.
BY_HAND = {
    "executorch_prim::et_copy_index.tensor": "(Tensor(a!) copy_to, Tensor copy_from, int index)"
    " -> ()",
    "executorch_prim::et_view.default": "(Tensor self, int[] size, *, Tensor(a!) out) -> ()",
    "executorch_prim::floordiv.int": "(int a, int b) -> int",
    "executorch_prim::mod.int": "(int a, int b) -> int",
}


class _Kernel(ctypes.Structure):
    """``executorch::runtime::Kernel`` (runtime/kernel/operator_registry.h)."""

    _fields_: ClassVar = [
        ("name", ctypes.c_char_p),
        ("key", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
    ]


class _Kernels(ctypes.Structure):
    """``executorch::runtime::Span<const Kernel>``."""

    _fields_: ClassVar = [("data", ctypes.POINTER(_Kernel)), ("size", ctypes.c_size_t)]


def table() -> str:
    """Return the table's text: a header, then one schema a line, sorted by name."""
    header = (
        "# Operators that ExecuTorch's kernel libraries register, and ours, as they are declared.\n"
        "# Made by `nearside-export operators` from the schemas of "
        f"torch {version('torch')} and executorch {version('executorch')}.\n"
    )
    return header + "".join(f"{_signature(name)}\n" for name in sorted([*_names(), *ops.KERNELS]))


def write(out: Path) -> None:
    """Write the table to ``out``; `DiskError` where that can't be."""
    try:
        out.write_text(table(), encoding="utf-8")
    except OSError as error:
        raise DiskError(
            f"{out} can't be written: {error.strerror}. Run this at the repository's root, or give "
            "a file with --out"
        ) from error


def _names() -> list[str]:
    """Names of the kernels in ExecuTorch's registry once its libraries are loaded."""
    # exir is a folder of the package itself, which has no file of its own.
    folder = Path(executorch.exir.__file__).parents[1] / "lib"
    loaded = []
    for library in LIBRARIES:
        path = folder / library
        if not path.is_file():
            raise ExportError(f"{path} is missing; install executorch from PyPI for Linux")
        loaded.append(ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL))
    registered = getattr(loaded[0], REGISTERED_KERNELS)
    registered.restype = _Kernels
    kernels = registered()
    return sorted({kernels.data[i].name.decode() for i in range(kernels.size)})


def _signature(name: str) -> str:
    if name in BY_HAND:
        return name + BY_HAND[name]
    base, _, overload = name.partition(".")
    return str(torch._C._get_schema(base, overload))
