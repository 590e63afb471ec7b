"""Task ``classify``: image classifiers to packages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch.export import ExportedProgram

from nearside_export import package, quality
from nearside_export.architectures.classifier import Classifier
from nearside_export.data import sets
from nearside_export.lower import blame, lowering
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
from nearside_export.tasks import data_files, preflight, variants
from nearside_export.tasks.advice import FP32, advised
from nearside_export.wanted import Wanted, read

SCHEMES = {"int8": pt2e_static_int8.NAME, "fp32": none.NAME, "fp16": "fp16"}
"""``--variant`` to the quantisation that the manifest names."""

LABELS_FILE = "labels.txt"


def export_package(
    classifier: Classifier,
    names: Sequence[str],
    target: Path,
    command: str,
    keeping: Keeping = NOTHING_KEPT,
    *,
    external_weights: bool = False,
    unmeasured: bool = False,
    soc: str | None = None,
) -> Manifest:
    """Export the variants ``names`` (see `wanted.read`) into the package folder ``target``.

    ``external_weights``: all of them in one ``.ptd`` file that the variants share. ``unmeasured``
    allows variants that don't run on this machine; ``soc`` is the chip that QNN compiles for.
    `QualityError` when a program is below its gate, `UsageError` for an unknown variant,
    `ExportError` when the target can't be written; ``target`` is then left as it was.
    """
    wanted = read(names, "classify")
    reasons = preflight.check(
        wanted, soc=soc, external_weights=external_weights, unmeasured=unmeasured
    )
    refuse_dropping(target, [v.name for v in wanted])
    options = {
        "task": "classify",
        "classifier": [classifier.name, classifier.source],
        "external_weights": external_weights,
        "soc": soc,
    }

    def make(variant: Wanted, folder: Path, work: Work) -> Variant:
        lowered, _ = work.program(
            variant.name, lambda: (lower(classifier, variant, external_weights, soc), {})
        )
        data = data_files.write(folder, lowered)
        unmeasured = reasons.get(variant.name)
        return measured_variant(
            classifier, variant.scheme, variant.name, lowered, folder, command, data, unmeasured
        )

    with keeping.work(options) as work, staged_folder(target) as folder:
        exported = [make(variant, folder, work) for variant in wanted]
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


def package_path(classifier: Classifier, out: Path, names: Sequence[str]) -> Path:
    """Where a package goes: fp32 alone gets a name of its own beside the int8 package."""
    wanted = read(names, "classify")
    return package.package_path(out, classifier.name, [v.scheme for v in wanted])


def lower(
    classifier: Classifier,
    variant: Wanted,
    external_weights: bool = False,
    soc: str | None = None,
) -> LoweredProgram:
    """Load, quantise or export, and lower."""
    what = f"{classifier.name} {variant.name}"
    torch.manual_seed(0)
    spec = classifier.image
    with stage(what, "load"):
        model = classifier.load()
    example = torch.from_numpy(blank(classifier))
    if variant.scheme == "int8":
        # PT2E quantises what is exported already: one stage.
        with stage(what, "quantise"), blame.tracing(classifier.name):
            pictures = np.concatenate([preprocess(p, spec) for p in sets.calibration()])
            program = _static_int8(classifier, variant)(model, example, torch.from_numpy(pictures))
    else:
        with stage(what, "export"), blame.tracing(classifier.name):
            program = none.export(model, example)
    with stage(what, "lower"):
        return blame.lowering(
            {"forward": program},
            lambda: lowering.lower(program, variant, weights_outside=external_weights, soc=soc),
        )


def _static_int8(
    classifier: Classifier, variant: Wanted
) -> Callable[[torch.nn.Module, torch.Tensor, torch.Tensor], ExportedProgram]:
    """Give what quantises for the variant's delegate."""
    if variant.delegate.name == "openvino":
        from nearside_export.quantise import openvino_int8

        return openvino_int8.export
    return partial(pt2e_static_int8.export, float_modules=classifier.float_modules)


def measured_variant(
    classifier: Classifier,
    scheme: str,
    name: str,
    lowered: LoweredProgram,
    folder: Path,
    command: str,
    external_data: Sequence[FileRef] = (),
    unmeasured: str | None = None,
) -> Variant:
    """Write ``lowered`` to ``folder`` as the variant ``name``, unless it is below its gate.

    ``external_data`` are its ``.ptd`` files, in ``folder`` already; at most one. ``unmeasured``
    says why it is not measured, if it is not.
    """
    measured = None
    if unmeasured is None:
        gate = classifier.gates[scheme]
        data = folder / external_data[0].path if external_data else None
        with stage(f"{classifier.name} {name}", "measure"):
            measured = measure_quality(classifier, lowered.pte, lowered.method, gate, data)
            with advised(scheme, lambda: FP32):
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
            unmeasured=unmeasured,
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
