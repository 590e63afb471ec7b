"""Delegation coverage: how much of a graph runs inside delegates.

Coverage = operator calls inside delegated subgraphs / all operator calls, of one method. Tuple
accessors, constants and quantise/dequantise pairs inside a delegate are not calls: XNNPACK folds
the pairs into its kernels. A quantise or dequantise left outside is a real call and is counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram

_DELEGATE_CALL = "executorch_call_delegate"


def coverage(program: ExportedProgram) -> float:
    """Coverage of a partitioned edge program, 0..1; 1 for a program without any call."""
    return share([calls(program)])


def share(methods: list[tuple[int, int]]) -> float:
    """Coverage over the `calls` of several methods."""
    inside = sum(i for i, _ in methods)
    total = inside + sum(o for _, o in methods)
    return inside / total if total else 1.0


def calls(program: ExportedProgram) -> tuple[int, int]:
    """Operator calls of a partitioned edge program inside and outside of delegates."""
    inside = 0
    outside = 0
    for node in program.graph.nodes:
        if node.op == "get_attr" and hasattr(
            module := getattr(program.graph_module, str(node.target)), "original_module"
        ):
            inside += sum(
                _is_call(n) and not _is_qdq(n) for n in module.original_module.graph.nodes
            )
        elif _is_call(node):
            outside += 1
    return inside, outside


def _is_call(node: torch.fx.Node) -> bool:
    return node.op == "call_function" and not any(
        part in str(node.target) for part in ("getitem", _DELEGATE_CALL)
    )


def _is_qdq(node: torch.fx.Node) -> bool:
    return "quantize_per_" in str(node.target)
