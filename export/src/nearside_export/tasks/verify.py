"""Recompute the quality figures of a package and compare them with its manifest."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nearside_export.architectures import registry
from nearside_export.architectures.classifier import Classifier
from nearside_export.errors import PackageError
from nearside_export.manifest import (
    Classify,
    ClassifyQuality,
    Describe,
    Embed,
    Generate,
    Manifest,
    Variant,
)
from nearside_export.package import check_files, read_labels
from nearside_export.sources import checkpoint
from nearside_export.tasks import classify, verify_describe, verify_embed, verify_generate
from nearside_export.tasks.tolerance import Comparison, measured_variants

RMSE_TOLERANCE = 0.02
"""Relative; int8 kernels of different CPUs may round a value differently."""

SQNR_TOLERANCE_DB = 0.2

AGREEMENT_TOLERANCE_PICTURES = 1
"""Pictures whose two best classes are a hair apart may fall on either side."""


@dataclass(frozen=True)
class ClassifyComparison:
    """Figures of one variant: as the manifest claims and as measured now."""

    variant: str
    claimed: ClassifyQuality
    measured: ClassifyQuality

    def differences(self) -> list[str]:
        """Say what disagrees beyond the tolerances; empty when nothing does."""
        claimed, measured = self.claimed, self.measured
        if claimed.images != measured.images:
            return [f"images: {claimed.images} claimed, {measured.images} measured"]
        found = []
        pictures = abs(claimed.top1_agreement - measured.top1_agreement) * claimed.images
        if pictures > AGREEMENT_TOLERANCE_PICTURES + 0.5:
            found.append(
                f"top1_agreement: {claimed.top1_agreement:.4f} claimed, "
                f"{measured.top1_agreement:.4f} measured"
            )
        # The small absolute part lets a float program differ in its last bits.
        allowed = RMSE_TOLERANCE * claimed.logit_rmse + 1e-4
        if abs(claimed.logit_rmse - measured.logit_rmse) > allowed:
            found.append(
                f"logit_rmse: {claimed.logit_rmse:.4f} claimed, {measured.logit_rmse:.4f} measured"
            )
        # Beyond 60 dB the noise is f32 rounding, which differs from CPU to CPU.
        quiet = min(claimed.logit_sqnr_db, measured.logit_sqnr_db) > 60.0
        if not quiet and abs(claimed.logit_sqnr_db - measured.logit_sqnr_db) > SQNR_TOLERANCE_DB:
            found.append(
                f"logit_sqnr_db: {claimed.logit_sqnr_db:.2f} claimed, "
                f"{measured.logit_sqnr_db:.2f} measured"
            )
        return found


def verify(
    package: Path, source: Path | None = None
) -> Iterator[ClassifyComparison | Comparison[Any]]:
    """Check the package's files, then measure every variant again.

    ``source`` is the fp32 model that the package was made from, for models that are not known by
    name. `PackageError` when a file differs from the manifest, or when the fp32 model is needed
    and is not given.
    """
    manifest = Manifest.read(package)
    check_files(package, manifest)
    match manifest.task:
        case Classify() as task:
            yield from _verify_classify(package, manifest, task, source)
        case Embed() as task:
            yield from verify_embed.verify(package, manifest, task, source)
        case Generate() as task:
            yield from verify_generate.verify(package, manifest, task, source)
        case Describe() as task:
            yield from verify_describe.verify(package, manifest, task, source)


def _verify_classify(
    package: Path, manifest: Manifest, task: Classify, source: Path | None
) -> Iterator[ClassifyComparison]:
    classifier = _classifier(package, manifest, task, source)
    if read_labels(package, task) != classifier.labels():
        raise PackageError(f"{package}: {task.labels.path} differs from the model's labels")
    if task.image != classifier.image:
        raise PackageError(f"{package}: the image spec differs from the model's")
    for variant, claimed in measured_variants(manifest, ClassifyQuality):
        yield _compare(package, variant, claimed, classifier)


def _classifier(
    package: Path, manifest: Manifest, task: Classify, source: Path | None
) -> Classifier:
    """Open the fp32 model: the checkpoint ``source``, or one that is known by name."""
    words = shlex.split(manifest.variants[0].export_command)
    named = "--architecture" in words[:-1]
    if source is not None:
        if not named:
            raise PackageError(
                f"{package} was not made from a checkpoint (its export command names no "
                "--architecture): verify it without --source"
            )
        architecture = words[words.index("--architecture") + 1]
        labels = package / task.labels.path
        return checkpoint.open_checkpoint(
            source, architecture, labels, manifest.licence, manifest.name
        )
    if named or manifest.name not in registry.CLASSIFIERS:
        raise PackageError(
            f"{package} holds {manifest.name!r}, whose fp32 model this exporter does not know: "
            "give the checkpoint that it was made from with --source (the manifest says "
            f"{manifest.source!r}); known: {', '.join(registry.CLASSIFIERS)}"
        )
    return registry.classifier(manifest.name)


def _compare(
    package: Path, variant: Variant, claimed: ClassifyQuality, classifier: Classifier
) -> ClassifyComparison:
    pte = (package / variant.program.path).read_bytes()
    data = package / variant.external_data[0].path if variant.external_data else None
    measured = classify.measure_quality(classifier, pte, variant.method, claimed.gate, data)
    return ClassifyComparison(variant.name, claimed, measured)
