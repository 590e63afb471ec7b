"""Language models at work: held-out text, prefilled and then token by token."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nearside_export import language_quality
from nearside_export.compare.subjects import Subject, tokenizer
from nearside_export.compare.workload import Figures
from nearside_export.errors import PackageError, UsageError
from nearside_export.language_quality import Comparison
from nearside_export.manifest import Generate, GenerateGate
from nearside_export.runtime.nearside import LoadedMethod, Program

PROMPT = 128
DECODED = 64
"""Tokens of a round; fewer where a cache has less room."""


class Text:
    """Text that all subjects cut into the same tokens; `PackageError` where they don't.

    ``context`` tokens are in the cache when decoding begins, by default those of the prompt.
    """

    def __init__(self, subjects: Sequence[Subject], context: int | None = None) -> None:
        from nearside_export.tasks.generate_quality import WINDOW, WINDOWS

        self._methods = [subject.variant.prefill_and_decode for subject in subjects]
        tasks = [s.task for s in subjects if isinstance(s.task, Generate)]
        facts = [task.generation for task in tasks]
        self._chunks = [own.max_prefill_tokens for own in facts]
        room = min(own.context_length for own in facts)
        self._windows = _windows(subjects, tasks, min(WINDOW, room), WINDOWS)
        self._decoded, self._prompt, self._context = lengths(room, context)
        self._ids = np.resize(self._windows[0], self._context + self._decoded)
        self.round = (
            f"a prompt of {self._prompt} tokens, then {self._decoded} decoded from "
            f"{self._context} positions on"
        )

    def quality(self, programs: Sequence[Program]) -> list[Figures]:
        """Predict every next token of held-out text as `tasks.generate_quality` does."""
        length = self._windows.shape[1]
        chunk = min(*self._chunks, max(1, length // 4))
        ends = language_quality.ends(length, chunk)
        models = [
            language_quality.logits([program.method(name) for name in names])
            for program, names in zip(programs, self._methods, strict=True)
        ]
        comparisons = [Comparison() for _ in models]
        for window in self._windows:
            following = window[ends[:-1]].tolist()
            rows = [language_quality.predictions(model, window.tolist(), chunk) for model in models]
            for comparison, own in zip(comparisons, rows, strict=True):
                comparison.add(rows[0], own, following)
        return [_figures(c, place > 0) for place, c in enumerate(comparisons)]

    def prepare(self, place: int, program: Program) -> None:
        """Fill the cache up to the prompt."""
        prefill = program.method(self._methods[place][0])
        self._run(prefill, 0, self._context - self._prompt, place)

    def speed(self, place: int, program: Program) -> Figures:
        """Prefill the prompt and decode."""
        names = self._methods[place]
        prefill, decode = program.method(names[0]), program.method(names[-1])
        self._run(prefill, self._context - self._prompt, self._context, place)
        for position in range(self._context, len(self._ids)):
            self._run(decode, position, position + 1, place)
        return {
            "prefill_tokens_per_second": 1000 * self._prompt / sum(prefill.calls_ms),
            "decode_tokens_per_second": 1000 * self._decoded / sum(decode.calls_ms),
        }

    def _run(self, method: LoadedMethod, start: int, end: int, place: int) -> None:
        chunk = self._chunks[place]
        for first in range(start, end, chunk):
            last = min(first + chunk, end)
            positions = np.arange(first, last, dtype=np.int64)
            method.run([self._ids[np.newaxis, first:last], positions])


def lengths(room: int, context: int | None) -> tuple[int, int, int]:
    """Give the tokens to decode, those of the prompt, and the positions in use before decoding.

    ``room`` positions are in the cache; `UsageError` where ``context`` leaves too few.
    """
    if room < 2:
        raise PackageError(f"a cache of {room} position has no room for a prompt and an answer")
    decoded = max(1, min(DECODED, room // 3))
    prompt = min(PROMPT, room - decoded)
    if context is None:
        return decoded, prompt, prompt
    if not 1 <= context <= room - decoded:
        raise UsageError(
            f"--context {context} with {decoded} decoded tokens does not fit into the {room} "
            f"positions that all packages have: at least 1, at most {room - decoded}"
        )
    return decoded, min(prompt, context), context


def _windows(
    subjects: Sequence[Subject], tasks: Sequence[Generate], length: int, count: int
) -> NDArray[np.int64]:
    from nearside_export.data.text import held_out

    first, *others = (
        held_out(tokenizer(subject, task), length, count).numpy()
        for subject, task in zip(subjects, tasks, strict=True)
    )
    for subject, task, own in zip(subjects[1:], tasks[1:], others, strict=True):
        sizes = [t.generation.vocab_size for t in (tasks[0], task)]
        if not np.array_equal(first, own) or sizes[0] != sizes[1]:
            raise PackageError(
                f"{subject} has another tokenizer than {subjects[0]} (vocabularies of {sizes[1]} "
                f"and {sizes[0]}): compare packages that cut text into the same tokens"
            )
    if not len(first):
        raise PackageError(f"{subjects[0]}: its tokenizer makes too few tokens of the text")
    return first


def _figures(comparison: Comparison, beside_first: bool) -> Figures:
    found = comparison.quality(GenerateGate())
    figures: Figures = {"tokens": found.tokens, "perplexity": found.perplexity}
    if beside_first:
        figures |= {
            "next_token_agreement": found.next_token_agreement,
            "kl_divergence": found.kl_divergence,
            "logit_max_error": found.logit_max_error,
        }
    return figures
