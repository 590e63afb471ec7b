"""Weights in a ``.ptd`` file beside the program, delegates' too.

Data in such a file has a name, and equal data is stored once under all its names: a table that is
XNNPACK's weight too, or what several variants have in common (`merge`). XNNPACK names its weights
by their contents. ExecuTorch names a constant tensor as its module does, which two variants, or two
methods of one program, can do for different tensors: here the contents are part of that name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from executorch.exir._serialize._cord import Cord
from executorch.exir._serialize._named_data_store import NamedDataStore
from executorch.exir._serialize._serialize import serialize_for_executorch
from executorch.exir._serialize.data_serializer import DataPayload
from executorch.exir.schema import Tensor, TensorDataLocation
from executorch.extension.flat_tensor.serialize.serialize import FlatTensorSerializer

if TYPE_CHECKING:
    from executorch.exir import (
        EdgeProgramManager,
        ExecutorchBackendConfig,
        ExecutorchProgramManager,
    )
    from torch.fx import Node

NAME = "weights"
FILE = f"{NAME}.ptd"
"""Of all weights that nothing else is said of."""


def finish(
    edge: EdgeProgramManager, config: ExecutorchBackendConfig, outside: bool
) -> ExecutorchProgramManager:
    """Make ``edge`` a program of ExecuTorch's, if ``outside`` with its weights in `FILE`.

    Constants that ``config.external_constants`` names another file for go into that one. ``edge``
    can't be used any more then.
    """
    if not outside:
        return edge.to_executorch(config)
    other = config.external_constants if callable(config.external_constants) else None
    store = edge._named_data_store
    store.external_data.setdefault(NAME, {}).update(store.pte_data)
    store.pte_data = {}
    config = replace(config, external_constants=_elsewhere(other))
    manager = edge.to_executorch(config)
    _name_by_contents(manager)
    manager._pte_data, manager._tensor_data = serialize_for_executorch(
        manager._emitter_output, config, manager._data_serializer, manager._named_data
    )
    return manager


def merge(files: Sequence[bytes]) -> bytes:
    """Make one ``.ptd`` file of several; equal data is stored once.

    ``ValueError`` where two files have different data under one name.
    """
    store = NamedDataStore()
    serializer = FlatTensorSerializer()
    for file in files:
        payload = serializer.deserialize(Cord(file))
        for key, entry in payload.named_data.items():
            data = payload.buffers[entry.buffer_index]
            store.add_named_data(key, data, external_tag=NAME, tensor_layout=entry.tensor_layout)
    merged = store.get_named_data_store_output()
    return bytes(serializer.serialize(DataPayload(merged.buffers, merged.external_data[NAME])))


def _elsewhere(other: Callable[[Node], str | None] | None) -> Callable[[Node], str]:
    return lambda node: (other(node) if other else None) or NAME


def _name_by_contents(manager: ExecutorchProgramManager) -> None:
    output = manager._emitter_output
    files = output.external_constant_map
    renamed: dict[str, dict[str, int]] = {}
    for plan in output.program.execution_plan:
        for value in plan.values:
            tensor = value.val
            if not isinstance(tensor, Tensor) or not _is_external(tensor):
                continue
            info = tensor.extra_tensor_info
            name, index = info.fully_qualified_name, tensor.data_buffer_idx
            file = next(file for file, names in files.items() if name in names)
            key = f"{name}:{_digest(tensor, output.external_constant_buffer[index])}"
            renamed.setdefault(file, {})[key] = index
            tensor.extra_tensor_info = replace(info, fully_qualified_name=key)
    files.clear()
    files.update(renamed)


def _is_external(tensor: Tensor) -> bool:
    info = tensor.extra_tensor_info
    return info is not None and info.location is TensorDataLocation.EXTERNAL


def _digest(tensor: Tensor, data: bytes) -> str:
    """Sum up all that the data's entry in the file says: the layout too."""
    layout = (int(tensor.scalar_type), list(tensor.sizes), list(tensor.dim_order))
    return hashlib.sha256(repr(layout).encode() + data).hexdigest()[:32]
