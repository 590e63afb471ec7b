"""What can't be lowered, by the operators to blame and where in the model they are called."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING

import torch
from torch._export.verifier import SpecViolationError

from nearside_export import ops
from nearside_export.errors import ExportError, UnsupportedError

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.fx import Node

    from nearside_export.lower.program import LoweredProgram

_NAMED = re.compile(r"(?:torch\._ops\.|torch\.ops\.)?\b([a-z_]\w*)(?:\.|::)(\w+)\.?(\w*)")
_SHOWN = 5


@contextmanager
def tracing(what: str) -> Iterator[None]:
    """Turn what PyTorch raises while it traces ``what`` into an `UnsupportedError`."""
    try:
        yield
    except (ExportError, OSError, MemoryError):
        raise
    except Exception as error:
        first = next((line for line in str(error).splitlines() if line.strip()), "")
        raise UnsupportedError(
            f"PyTorch can't trace {what}{_user_code(error)}: {type(error).__name__}: "
            f"{first.strip()}. A model whose steps depend on its values can't be exported"
        ) from error


def lowering(
    programs: Mapping[str, ExportedProgram], lower: Callable[[], LoweredProgram]
) -> LoweredProgram:
    """Lower ``programs``, the methods by name, by calling ``lower``.

    `UnsupportedError` names the operators that ExecuTorch can't lower, or that no kernel exists
    for, and the modules and lines that call them.
    """
    try:
        lowered = lower()
    except SpecViolationError as error:
        raise _unsupported("that ExecuTorch can't lower", _foreign(programs), programs) from error
    except RuntimeError as error:
        # Of operators that are registered without a variant that writes into given tensors.
        if "out variant" not in str(error):
            raise
        found = {"::".join(match[:2]) for match in _NAMED.findall(str(error))}
        raise _unsupported("without an out variant", found, programs) from error
    if missing := set(lowered.operators) - _kernels():
        raise _unsupported("that no runtime has a kernel for", missing, programs)
    return lowered


def _foreign(programs: Mapping[str, ExportedProgram]) -> set[str]:
    """Give the operators that are left outside of the core set, once decomposed."""
    return {
        str(node.target._schema.name)
        for program in programs.values()
        for node in _decomposed(program)
        if isinstance(node.target, torch._ops.OpOverload)
        and node.target.namespace == "aten"
        and torch.Tag.core not in node.target.tags
    }


def _kernels() -> set[str]:
    import executorch.kernels.quantized  # noqa: F401  registers more of them
    from executorch.runtime import Runtime

    return {*Runtime.get().operator_registry.operator_names, *ops.KERNELS}


def _unsupported(
    why: str, operators: set[str], programs: Mapping[str, ExportedProgram]
) -> UnsupportedError:
    shown = sorted(operators)[:_SHOWN]
    places = [f"{name} ({_places(name, programs)})" for name in shown]
    more = f" and {len(operators) - _SHOWN} more" if len(operators) > _SHOWN else ""
    return UnsupportedError(
        f"the model has operators {why}: {'; '.join(places)}{more}. "
        "Replace them in the model by others, or export another model"
    )


def _places(operator: str, programs: Mapping[str, ExportedProgram]) -> str:
    base = _base(operator)
    for program in programs.values():
        for nodes in (program.graph.nodes, _decomposed(program)):
            calls = [n for n in nodes if n.op == "call_function" and _base(_name(n)) == base]
            if calls:
                first = f"called by {_module(calls[0])}{_line(calls[0])}"
                others = f", and {len(calls) - 1} times more" if len(calls) > 1 else ""
                return f"{first}{others}"
    return "made while lowering"


def _decomposed(program: ExportedProgram) -> list[Node]:
    return list(program.run_decompositions().graph.nodes)


def _name(node: Node) -> str:
    target = node.target
    return target._schema.name if isinstance(target, torch._ops.OpOverload) else str(target)


def _base(operator: str) -> str:
    """Name without namespace, overload, and what only copies or writes into a given tensor."""
    return operator.rpartition("::")[2].partition(".")[0].removesuffix("_copy")


def _module(node: Node) -> str:
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    if not stack:
        return "the model"
    path, kind = stack[-1]
    kind = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"
    short = kind.rpartition(".")[2]
    return f"{path} ({short})" if path else f"the model itself ({short})"


def _line(node: Node) -> str:
    lines = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
    return f" in {_short(lines[-1][0])}:{lines[-1][1]}" if lines else ""


def _user_code(error: Exception) -> str:
    """Say the last line that is neither PyTorch's nor ours."""
    own = str(Path(__file__).parents[1])
    for frame in reversed(extract_tb(error.__traceback__)):
        if not frame.filename.startswith((own, "<")) and "/torch/" not in frame.filename:
            return f" at {_short(frame.filename)}:{frame.lineno}"
    return ""


def _short(path: str) -> str:
    """Last three parts: enough to find it, and not where it is installed."""
    return "/".join(Path(path).parts[-3:])
