"""The delegates that programs can be lowered to, and what each can hold.

A table only: each delegate has a file of its own beside this one, which imports what it needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

USUAL = "xnnpack"
_FIXED = "ExecuTorch's partitioner for it takes inputs of a fixed shape only"
_EVERY_TASK = ("classify", "embed", "generate", "describe")


@dataclass(frozen=True)
class Delegate:
    """``backend`` is ExecuTorch's id of it, null for kernels: portable ones, or Nearside's own.

    ``schemes`` it can hold, by task, the usual one first: what ``--variant`` takes. ``refuses``
    says why other tasks are not there. ``weights_outside``: whether a ``.ptd`` file can hold its
    weights. ``never_measured`` says why its programs run on no machine that exports. ``own``: the
    operators are ours, which only the Nearside runtime has.
    """

    name: str
    backend: str | None
    schemes: Mapping[str, tuple[str, ...]]
    refuses: str = ""
    weights_outside: bool = True
    never_measured: str | None = None
    own: bool = False


DELEGATES = {
    delegate.name: delegate
    for delegate in (
        Delegate(
            "xnnpack",
            "XnnpackBackend",
            {
                "classify": ("int8", "fp32"),
                "embed": ("int8", "fp32"),
                "generate": ("fp32", "int8", "8da4w", "int8w"),
                "describe": ("fp32", "int8", "8da4w"),
            },
        ),
        Delegate(
            "nearside",
            None,
            {"generate": ("8da4w", "int8")},
            refuses="its operators are those of text decoders alone",
            own=True,
        ),
        Delegate("portable", None, dict.fromkeys(_EVERY_TASK, ("fp32",))),
        Delegate(
            "openvino",
            "OpenvinoBackend",
            {"classify": ("int8", "fp32")},
            refuses=_FIXED,
            weights_outside=False,
        ),
        Delegate(
            "coreml",
            "CoreMLBackend",
            {"classify": ("fp16", "fp32"), "embed": ("fp16", "fp32")},
            refuses="coremltools can't convert a decoder whose inputs have no fixed length",
            weights_outside=False,
        ),
        Delegate(
            "qnn",
            "QnnBackend",
            {"classify": ("fp16",)},
            refuses=_FIXED,
            weights_outside=False,
            never_measured="its programs are compiled for Qualcomm's NPU, which this machine lacks",
        ),
    )
}
"""By name, as ``--delegate`` has it and variants' names begin with."""
