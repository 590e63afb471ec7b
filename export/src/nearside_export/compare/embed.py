"""Text encoders at work: the judged texts of the Lee corpus."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nearside_export import retrieval_quality
from nearside_export.compare.subjects import Subject
from nearside_export.compare.workload import Figures
from nearside_export.data import retrieval
from nearside_export.errors import PackageError
from nearside_export.manifest import Embed, EmbedGate
from nearside_export.runtime import Array
from nearside_export.runtime.nearside import Program

TEXTS = 10
"""A round."""


class Texts:
    """Texts as each subject cuts them into tokens; `PackageError` where tokenizers differ."""

    round = f"{TEXTS} texts, one a call"

    def __init__(self, subjects: Sequence[Subject]) -> None:
        self._methods = [subject.variant.method for subject in subjects]
        facts = [s.task.embedding for s in subjects if isinstance(s.task, Embed)]
        self._tokens = [
            _tokens(subject, own.max_tokens) for subject, own in zip(subjects, facts, strict=True)
        ]
        # The shortest limit of all, so that only the tokenizers are compared.
        common = min(own.max_tokens for own in facts)
        first, *others = (_tokens(subject, common) for subject in subjects)
        for subject, own, tokens in zip(subjects[1:], facts[1:], others, strict=True):
            if not all(map(np.array_equal, first, tokens)):
                raise PackageError(
                    f"{subject} cuts texts into other tokens than {subjects[0]}: compare packages "
                    "with the same tokenizer"
                )
            if own.dimensions != facts[0].dimensions:
                raise PackageError(
                    f"{subject} gives {own.dimensions} dimensions, {subjects[0]} "
                    f"{facts[0].dimensions}: compare exports of one model"
                )

    def quality(self, programs: Sequence[Program]) -> list[Figures]:
        """Compare with people's judgements, and embeddings with the first subject's."""
        found = []
        for program, name, tokens in zip(programs, self._methods, self._tokens, strict=True):
            method = program.method(name)
            found.append(np.concatenate([method.run([ids])[0] for ids in tokens]))
        return [_figures(found[0], own, place > 0) for place, own in enumerate(found)]

    def prepare(self, place: int, program: Program) -> None:
        """Leave it as it is."""

    def speed(self, place: int, program: Program) -> Figures:
        """Embed the first texts."""
        method = program.method(self._methods[place])
        texts = self._tokens[place][:TEXTS]
        for ids in texts:
            method.run([ids])
        seconds = sum(method.calls_ms) / 1000
        return {
            "texts_per_second": len(texts) / seconds,
            "tokens_per_second": sum(ids.size for ids in texts) / seconds,
        }


def _tokens(subject: Subject, max_tokens: int) -> list[Array]:
    from nearside_export.tasks.embed import tokenise

    assert isinstance(subject.task, Embed)  # the workload is chosen by the task
    text = (subject.package / subject.task.tokenizer.path).read_text(encoding="utf-8")
    return [ids.numpy() for ids in tokenise(text, retrieval.documents(), max_tokens)]


def _figures(first: Array, own: Array, beside_first: bool) -> Figures:
    gate = EmbedGate(ndcg_at_10_drop=0.0)
    found = retrieval_quality.compare(first, own, retrieval.judgements(), gate)
    figures: Figures = {
        "documents": found.documents,
        "ndcg_at_10": found.ndcg_at_10,
        "spearman": found.spearman,
    }
    if beside_first:
        figures |= {"cosine_min": found.cosine_min, "cosine_mean": found.cosine_mean}
    return figures
