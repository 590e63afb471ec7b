"""Task ``classify``: the network is built, for only PyTorch knows how large it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nearside_export.architectures.classifier import Classifier
from nearside_export.plan import costs
from nearside_export.plan.plan import Plan, delegates_of
from nearside_export.wanted import Wanted

_QUANTISATION = {"fp32": "none", "fp16": "fp16", "int8": "pt2e-static-int8"}
_BYTES = {"fp32": 4, "fp16": 2, "int8": 1}
_SECONDS = {"fp32": 25.0, "fp16": 25.0, "int8": 120.0}
"""EfficientNet-Lite0's; what counts is the number of operators, which nobody knows before."""


def plan(classifier: Classifier, package: Path, variants: Sequence[Wanted]) -> Plan:
    """Estimate an export."""
    parameters = sum(p.numel() for p in classifier.load().parameters())
    size = sum(parameters * _BYTES[v.scheme] for v in variants)
    size += costs.FILES_BYTES
    return Plan(
        package=package,
        quantisation=tuple(_QUANTISATION[v.scheme] for v in variants),
        parameters=parameters,
        package_bytes=size,
        work_bytes=size,
        memory_bytes=costs.START_BYTES + int(parameters * costs.BYTES_A_PARAMETER["fp32"]),
        seconds=costs.START_SECONDS + sum(_SECONDS[v.scheme] for v in variants),
        delegates=delegates_of(variants),
    )
