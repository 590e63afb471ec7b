"""Task ``classify``: image classifiers to packages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from nearside_export import package, quality
from nearside_export.architectures.classifier import Classifier
from nearside_export.data import sets
from nearside_export.errors import UsageError
from nearside_export.lower import blame, xnnpack
from nearside_export.lower.program import LoweredProgram
from nearside_export.manifest import (
    Classify,
    ClassifyGate,
    ClassifyQuality,
    FileRef,
    Manifest,
    Variant,
)
from nearside_export.package import file_ref, refuse_dropping, staged_folder, write_manifest
from nearside_export.preprocess import preprocess
from nearside_export.progress import stage, track
from nearside_export.quantise import none, pt2e_static_int8
from nearside_export.resume.work import NOTHING_KEPT, Keeping, Work
from nearside_export.runtime.wheel import LoadedMethod
from nearside_export.tasks import data_files, variants

SCHEMES = {"int8": pt2e_static_int8.NAME, "fp32": none.NAME}
"""``--variant`` to the quantisation that the manifest names."""

LABELS_FILE = "labels.txt"


def export_package(
    classifier: Classifier,
    schemes: list[str],
    target: Path,
    command: str,
    keeping: Keeping = NOTHING_KEPT,
    *,
    external_weights: bool = False,
) -> Manifest:
    """Export ``classifier`` once per scheme into the package folder ``target``.

    ``external_weights``: all of them in one ``.ptd`` file that the variants share.
    `QualityError` when a program is below its gate, `UsageError` for an unknown scheme,
    `ExportError` when the target can't be written; ``target`` is then left as it was.
    """
    for scheme in schemes:
        if scheme not in SCHEMES:
            raise UsageError(f"unknown variant {scheme!r}; known: {', '.join(sorted(SCHEMES))}")
    refuse_dropping(target, {f"xnnpack-{scheme}" for scheme in schemes})
    options = {
        "task": "classify",
        "classifier": [classifier.name, classifier.source],
        "external_weights": external_weights,
    }
    with keeping.work(options) as work, staged_folder(target) as folder:
        exported = [
            _export_variant(classifier, s, folder, command, work, external_weights) for s in schemes
        ]
        manifest = Manifest(
            name=classifier.name,
            licence=classifier.licence,
            source=classifier.source,
            task=Classify(write_labels(classifier, folder), classifier.image, "logits"),
            variants=data_files.measured_again(folder, exported),
        )
        write_manifest(folder, manifest)
    return manifest


def write_labels(classifier: Classifier, folder: Path) -> FileRef:
    """Write the labels file into ``folder``."""
    text = "\n".join(classifier.labels()) + "\n"
    (folder / LABELS_FILE).write_text(text, encoding="utf-8")
    return file_ref(folder, LABELS_FILE)


def measure_quality(
    classifier: Classifier, pte: bytes, method: str, gate: ClassifyGate, data: Path | None = None
) -> ClassifyQuality:
    """Compare a program, as ExecuTorch runs it, with eager fp32 on the evaluation pictures.

    ``data`` is the program's ``.ptd`` file, if it has one.
    """
    model = classifier.load()
    loaded = LoadedMethod(pte, method, data)

    def eager(batch: quality.Array) -> quality.Array:
        with torch.no_grad():
            return model(torch.from_numpy(batch)).numpy()

    pictures = list(sets.evaluation())
    shown = track(pictures, len(pictures), "measuring, pictures")
    inputs = (preprocess(picture, classifier.image) for picture in shown)
    return quality.measure(eager, lambda batch: loaded.run([batch])[0], inputs, gate)


def package_path(classifier: Classifier, out: Path, variant: str) -> Path:
    """Where a package goes: fp32 alone gets a name of its own beside the int8 package."""
    return package.package_path(out, classifier.name, variant == "fp32")


def _export_variant(
    classifier: Classifier,
    scheme: str,
    folder: Path,
    command: str,
    work: Work,
    external_weights: bool,
) -> Variant:
    name = f"xnnpack-{scheme}"
    lowered, _ = work.program(name, lambda: (lower(classifier, scheme, external_weights), {}))
    data = data_files.write(folder, lowered)
    return measured_variant(classifier, scheme, name, lowered, folder, command, data)


def lower(classifier: Classifier, scheme: str, external_weights: bool = False) -> LoweredProgram:
    """Load, quantise or export, and lower."""
    what = f"{classifier.name} xnnpack-{scheme}"
    torch.manual_seed(0)
    spec = classifier.image
    with stage(what, "load"):
        model = classifier.load()
    example = torch.from_numpy(blank(classifier))
    if scheme == "int8":
        # PT2E quantises what is exported already: one stage.
        with stage(what, "quantise"), blame.tracing(classifier.name):
            pictures = np.concatenate([preprocess(p, spec) for p in sets.calibration()])
            program = pt2e_static_int8.export(
                model, example, torch.from_numpy(pictures), classifier.float_modules
            )
    else:
        with stage(what, "export"), blame.tracing(classifier.name):
            program = none.export(model, example)
    with stage(what, "lower"):
        return blame.lowering(
            {"forward": program},
            lambda: xnnpack.lower(program, weights_outside=external_weights),
        )


def measured_variant(
    classifier: Classifier,
    scheme: str,
    name: str,
    lowered: LoweredProgram,
    folder: Path,
    command: str,
    external_data: Sequence[FileRef] = (),
) -> Variant:
    """Write ``lowered`` to ``folder`` as the variant ``name``, unless it is below its gate.

    ``external_data`` are its ``.ptd`` files, in ``folder`` already; at most one.
    """
    gate = classifier.gates[scheme]
    data = folder / external_data[0].path if external_data else None
    with stage(f"{classifier.name} {name}", "measure"):
        measured = measure_quality(classifier, lowered.pte, lowered.method, gate, data)
        quality.check_gate(name, measured)
    with stage(f"{classifier.name} {name}", "write"):
        return variants.write(
            folder,
            name,
            lowered,
            measured,
            command,
            external_data,
            quantisation=SCHEMES[scheme],
        )


def blank(classifier: Classifier) -> quality.Array:
    """Give zeros in the shape of the input."""
    spec = classifier.image
    shape = (
        (1, 3, spec.height, spec.width)
        if spec.layout == "nchw"
        else (1, spec.height, spec.width, 3)
    )
    return np.zeros(shape, dtype=np.float32)
