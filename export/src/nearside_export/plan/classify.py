"""Task ``classify``: the network is built, for only PyTorch knows how large it is."""

from __future__ import annotations

from pathlib import Path

from nearside_export.architectures.classifier import Classifier
from nearside_export.plan import costs
from nearside_export.plan.plan import Plan

_QUANTISATION = {"fp32": "none", "int8": "pt2e-static-int8"}
_SECONDS = {"fp32": 25.0, "int8": 120.0}
"""EfficientNet-Lite0's; what counts is the number of operators, which nobody knows before."""


def plan(classifier: Classifier, package: Path, schemes: list[str]) -> Plan:
    """Estimate an export."""
    parameters = sum(p.numel() for p in classifier.load().parameters())
    size = sum(parameters * (4 if scheme == "fp32" else 1) for scheme in schemes)
    size += costs.FILES_BYTES
    return Plan(
        package=package,
        quantisation=tuple(_QUANTISATION[s] for s in schemes),
        parameters=parameters,
        package_bytes=size,
        work_bytes=size,
        memory_bytes=costs.START_BYTES + int(parameters * costs.BYTES_A_PARAMETER["fp32"]),
        seconds=costs.START_SECONDS + sum(_SECONDS[s] for s in schemes),
    )
