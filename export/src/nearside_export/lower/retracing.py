"""Lowering without retracing graphs that did not change.

ExecuTorch 1.5.1 runs 17 passes on each subgraph that XNNPACK takes. Nearly all of them end by
running every operator once more on fake tensors, to renew the shapes that the pass may have
changed; on a language model they change next to nothing. Here such a run is left out if the graph
is the one that the last run left behind. The program is the same, byte for byte
(test_retracing.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from executorch.backends.xnnpack._passes import XNNPACKPassManager
from executorch.exir.pass_base import ExportPass, _ExportPassBase
from torch.fx.passes.infra.pass_base import PassResult

_TRACED = "nearside_traced"
_HOOKS = (
    "call_operator",
    "call_sym",
    "call_cond",
    "call_map",
    "call_scan",
    "call_getitem",
    "call_delegate",
    "call_submodule",
    "placeholder",
    "output",
)
"""What a pass overrides to change operators while it runs them."""


@contextmanager
def only_changed_graphs() -> Iterator[None]:
    """Leave out, while the block runs, retraces that would change nothing."""
    transform, call = XNNPACKPassManager.transform, _ExportPassBase.call
    XNNPACKPassManager.transform = _from_traced(transform)
    _ExportPassBase.call = _unless_traced(call)
    try:
        yield
    finally:
        XNNPACKPassManager.transform, _ExportPassBase.call = transform, call


def _from_traced(transform: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Take the subgraph that the passes begin with for traced: its whole graph was, just before."""

    def begin(self: XNNPACKPassManager) -> Any:  # noqa: ANN401
        graph_module = self.exported_program.graph_module
        graph_module.meta[_TRACED] = _fingerprint(graph_module)
        return transform(self)

    return begin


def _unless_traced(call: Callable[[Any, Any], PassResult]) -> Callable[[Any, Any], PassResult]:
    def again(self: _ExportPassBase, graph_module: torch.fx.GraphModule) -> PassResult:
        if not _only_traces(type(self)):
            return call(self, graph_module)
        known = graph_module.meta.get(_TRACED)
        if known is not None and known == _fingerprint(graph_module):
            return PassResult(graph_module, True)
        result = call(self, graph_module)
        result.graph_module.meta[_TRACED] = _fingerprint(result.graph_module)
        return result

    return again


def _only_traces(kind: type) -> bool:
    return all(
        getattr(kind, hook, None) is getattr(ExportPass, hook, None)
        or getattr(kind, hook, None) is getattr(_ExportPassBase, hook, None)
        for hook in _HOOKS
    )


def _fingerprint(graph_module: torch.fx.GraphModule) -> tuple[Any, ...]:
    """Name the graph: each node by its place, with its operator and operands."""
    places: dict[torch.fx.Node, int] = {}
    rows = []
    for node in graph_module.graph.nodes:
        operands = torch.fx.node.map_arg(
            (node.args, node.kwargs), lambda operand: _Place(places[operand])
        )
        rows.append((node.op, node.target, repr(operands)))
        places[node] = len(places)
    return tuple(rows)


class _Place:
    """An operand, by the place of the node that makes it."""

    def __init__(self, index: int) -> None:
        self._index = index

    def __repr__(self) -> str:
        return f"%{self._index}"
