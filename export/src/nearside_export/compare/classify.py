"""Classifiers at work: the exporter's evaluation pictures."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from nearside_export import quality
from nearside_export.compare.subjects import Subject
from nearside_export.compare.workload import Figures
from nearside_export.data import sets
from nearside_export.errors import PackageError
from nearside_export.manifest import Classify, ClassifyGate
from nearside_export.package import read_labels
from nearside_export.preprocess import preprocess
from nearside_export.runtime.nearside import Program

PICTURES = 10
"""A round."""


class Pictures:
    """Pictures as each subject's manifest wants them; `PackageError` where labels differ."""

    round = f"{PICTURES} pictures, one a call"

    def __init__(self, subjects: Sequence[Subject]) -> None:
        self._methods = [subject.variant.method for subject in subjects]
        tasks = [subject.task for subject in subjects]
        self._specs = [task.image for task in tasks if isinstance(task, Classify)]
        labels = [
            read_labels(subject.package, task)
            for subject, task in zip(subjects, tasks, strict=True)
            if isinstance(task, Classify)
        ]
        for subject, own in zip(subjects, labels, strict=True):
            if own != labels[0]:
                raise PackageError(
                    f"{subject} has other labels than {subjects[0]}: compare classifiers of the "
                    "same classes"
                )
        first = list(itertools.islice(sets.evaluation(), PICTURES))
        self._inputs = [[preprocess(picture, spec) for picture in first] for spec in self._specs]

    def quality(self, programs: Sequence[Program]) -> list[Figures]:
        """Compare scores with the first subject's, on all evaluation pictures."""
        methods = [p.method(name) for p, name in zip(programs, self._methods, strict=True)]
        rows: list[list[quality.Array]] = [[] for _ in methods]
        for picture in sets.evaluation():
            made = {spec: preprocess(picture, spec) for spec in set(self._specs)}
            for scores, method, spec in zip(rows, methods, self._specs, strict=True):
                scores.append(method.run([made[spec]])[0])
        scores = [np.concatenate(own) for own in rows]
        return [{"images": len(scores[0])}, *(_beside(scores[0], own) for own in scores[1:])]

    def prepare(self, place: int, program: Program) -> None:
        """Leave it as it is."""

    def speed(self, place: int, program: Program) -> Figures:
        """Classify the first pictures."""
        method = program.method(self._methods[place])
        for picture in self._inputs[place]:
            method.run([picture])
        return {"images_per_second": 1000 * len(method.calls_ms) / sum(method.calls_ms)}


def _beside(first: quality.Array, other: quality.Array) -> Figures:
    found = quality.compare(first, other, ClassifyGate(top1_agreement=0.0))
    return {
        "images": found.images,
        "top1_agreement": found.top1_agreement,
        "logit_rmse": found.logit_rmse,
        "logit_sqnr_db": found.logit_sqnr_db,
    }
