"""Task ``classify``: image classifiers to packages."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

import numpy as np
import torch

from nearside_export import quality
from nearside_export.architectures.classifier import Classifier
from nearside_export.data import sets
from nearside_export.errors import ExportError, UsageError
from nearside_export.lower import xnnpack
from nearside_export.manifest import FILE_NAME, Gate, Manifest, Quality, Variant
from nearside_export.package import SUFFIX, file_ref, staged_folder, write_manifest
from nearside_export.preprocess import preprocess
from nearside_export.quantise import none, pt2e_static_int8
from nearside_export.runtime import LoadedMethod

SCHEMES = {"int8": pt2e_static_int8.NAME, "fp32": none.NAME}
"""``--variant`` to the quantisation that the manifest names."""

LABELS_FILE = "labels.txt"


def export_package(
    classifier: Classifier, schemes: list[str], target: Path, command: str
) -> Manifest:
    """Export ``classifier`` once per scheme into the package folder ``target``.

    `QualityError` when a program is below its gate, `UsageError` for an unknown scheme,
    `ExportError` when the target can't be written; ``target`` is then left as it was.
    """
    for scheme in schemes:
        if scheme not in SCHEMES:
            raise UsageError(f"unknown variant {scheme!r}; known: {', '.join(sorted(SCHEMES))}")
    _refuse_dropping(target, {f"xnnpack-{scheme}" for scheme in schemes})
    with staged_folder(target) as folder:
        labels = classifier.labels()
        (folder / LABELS_FILE).write_text("\n".join(labels) + "\n", encoding="utf-8")
        manifest = Manifest(
            name=classifier.name,
            task="classify",
            licence=classifier.licence,
            source=classifier.source,
            labels=file_ref(folder, LABELS_FILE),
            image=classifier.image,
            output="logits",
            variants=[_export_variant(classifier, s, folder, command) for s in schemes],
        )
        write_manifest(folder, manifest)
    return manifest


def measure_quality(classifier: Classifier, pte: bytes, method: str, gate: Gate) -> Quality:
    """Compare a program, as ExecuTorch runs it, with eager fp32 on the evaluation pictures."""
    model = classifier.load()
    loaded = LoadedMethod(pte, method)

    def eager(batch: quality.Array) -> quality.Array:
        with torch.no_grad():
            return model(torch.from_numpy(batch)).numpy()

    inputs = (preprocess(picture, classifier.image) for picture in sets.evaluation())
    return quality.measure(eager, lambda batch: loaded.run([batch])[0], inputs, gate)


def package_path(classifier: Classifier, out: Path, variant: str) -> Path:
    """Where a package goes: fp32 alone gets a name of its own beside the int8 package."""
    suffix = "-fp32" if variant == "fp32" else ""
    return out / f"{classifier.name}{suffix}{SUFFIX}"


def _export_variant(classifier: Classifier, scheme: str, folder: Path, command: str) -> Variant:
    name = f"xnnpack-{scheme}"
    _say(f"{classifier.name} {name}: exporting")
    torch.manual_seed(0)
    spec = classifier.image
    model = classifier.load()
    example = torch.from_numpy(_blank(classifier))
    if scheme == "int8":
        pictures = np.concatenate([preprocess(p, spec) for p in sets.calibration()])
        program = pt2e_static_int8.export(model, example, torch.from_numpy(pictures))
    else:
        program = none.export(model, example)
    lowered = xnnpack.lower(program)
    _say(f"{classifier.name} {name}: measuring quality")
    measured = measure_quality(classifier, lowered.pte, lowered.method, classifier.gates[scheme])
    quality.check_gate(name, measured)
    file_name = f"{name}.pte"
    (folder / file_name).write_bytes(lowered.pte)
    return Variant(
        name=name,
        program=file_ref(folder, file_name),
        method=lowered.method,
        executorch=_version("executorch"),
        torch=_version("torch"),
        torchao=_version("torchao"),
        quantisation=SCHEMES[scheme],
        delegates=lowered.delegates,
        operators=lowered.operators,
        coverage=round(lowered.coverage, 4),
        planned_bytes=lowered.planned_bytes,
        quality=measured,
        export_command=command,
    )


def _blank(classifier: Classifier) -> quality.Array:
    spec = classifier.image
    shape = (
        (1, 3, spec.height, spec.width)
        if spec.layout == "nchw"
        else (1, spec.height, spec.width, 3)
    )
    return np.zeros(shape, dtype=np.float32)


def _refuse_dropping(target: Path, variants: set[str]) -> None:
    """Don't replace something else than a package, or a package by one with fewer variants."""
    if not (target / FILE_NAME).exists():
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise ExportError(
                f"{target} exists and is not a model package: move it away, "
                "or choose another folder with --out"
            )
        return
    kept = {v.name for v in Manifest.read(target).variants}
    if lost := kept - variants:
        raise ExportError(
            f"{target} also holds {', '.join(sorted(lost))}, which this export would drop: "
            "use --variant all, or another folder with --out"
        )


def _version(package: str) -> str:
    # Without a local part such as +cu130: the program does not depend on it.
    return importlib.metadata.version(package).split("+")[0]


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
