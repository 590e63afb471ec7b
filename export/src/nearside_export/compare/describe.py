"""Models that see and write at work: a picture amid held-out text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from nearside_export import describe_quality, language_quality
from nearside_export.architectures.multimodal.model import (
    VISION_ENCODER,
)
from nearside_export.compare.subjects import Subject, tokenizer
from nearside_export.compare.workload import Figures
from nearside_export.describe_quality import Prompt
from nearside_export.errors import PackageError
from nearside_export.manifest import Describe, GenerateGate
from nearside_export.runtime.nearside import LoadedMethod, Program


class PicturesAndText:
    """Prompts with a picture each; `PackageError` where subjects make other tokens of them."""

    round = "a picture, a prompt with it, and the rest of the text token by token"

    def __init__(self, subjects: Sequence[Subject]) -> None:
        from nearside_export.tasks.describe import evaluation_prompts

        tasks = [s.task for s in subjects if isinstance(s.task, Describe)]
        self._names = [[m.name for m in s.variant.methods or []] for s in subjects]
        self._bidirectional = [task.vision.bidirectional for task in tasks]
        self._longest = [task.generation.max_prefill_tokens for task in tasks]
        context = min(task.generation.context_length for task in tasks)
        self._prompts = [
            evaluation_prompts(task.vision, task.image, tokenizer(subject, task), context)
            for subject, task in zip(subjects, tasks, strict=True)
        ]
        for subject, task, shown in zip(subjects, tasks, self._prompts, strict=True):
            same = [prompt for prompt, _ in shown] == [prompt for prompt, _ in self._prompts[0]]
            if not same or task.generation.vocab_size != tasks[0].generation.vocab_size:
                raise PackageError(
                    f"{subject} makes other tokens of text and pictures than {subjects[0]}: "
                    "compare packages with the same tokenizer"
                )

    def quality(self, programs: Sequence[Program]) -> list[Figures]:
        """Compare logits and image embeddings with the first subject's."""
        comparisons = [language_quality.Comparison() for _ in programs]
        distance = [0.0] * len(programs)
        for number in range(len(self._prompts[0])):
            seen: list[NDArray[np.float32]] = []
            rows: list[torch.Tensor] = []
            for place, program in enumerate(programs):
                prompt, pixels = self._prompts[place][number]
                model = self._model(place, program)
                seen.append(model.see(pixels))
                calls = self._calls(prompt, min(self._longest))
                rows.append(torch.from_numpy(model.read(prompt, seen[-1], calls)).double())
            following = [prompt.ids[end] for _, end in calls[:-1]]
            for place, comparison in enumerate(comparisons):
                comparison.add(rows[0], rows[place], following)
                error = float(np.abs(seen[place] - seen[0]).max())
                distance[place] = max(distance[place], error)
        return [_figures(c, distance[i], i > 0) for i, c in enumerate(comparisons)]

    def prepare(self, place: int, program: Program) -> None:
        """Leave it as it is."""

    def speed(self, place: int, program: Program) -> Figures:
        """Look at the first picture and read its prompt."""
        prompt, pixels = self._prompts[place][0]
        methods = {name: program.method(name) for name in self._names[place]}
        model = self._model(place, program, methods)
        seen = model.see(pixels)
        calls = self._calls(prompt, self._longest[place])
        model.read(prompt, seen, calls)
        prefills = [end - start for start, end in calls if end <= _prefilled(prompt)]
        count = len(prefills)
        texts = [methods[n].calls_ms for n in methods if n != VISION_ENCODER]
        figures = {
            "pictures_per_second": 1000 / sum(methods[VISION_ENCODER].calls_ms),
            "prefill_tokens_per_second": 1000 * sum(prefills) / sum(sum(t[:count]) for t in texts),
        }
        # A cache that an image fills leaves nothing to decode.
        if decoded := len(calls) - count:
            after = sum(sum(t[count:]) for t in texts)
            figures["decode_tokens_per_second"] = 1000 * decoded / after
        return figures

    def _model(
        self, place: int, program: Program, methods: dict[str, LoadedMethod] | None = None
    ) -> describe_quality.Program:
        loaded = methods or {name: program.method(name) for name in self._names[place]}
        bidirectional = self._bidirectional[place]
        return describe_quality.Program.of_methods(list(loaded.values()), bidirectional)

    @staticmethod
    def _calls(prompt: Prompt, longest: int) -> list[tuple[int, int]]:
        return list(describe_quality.chunks(prompt, longest, _prefilled(prompt)))


def _prefilled(prompt: Prompt) -> int:
    return (prompt.last + len(prompt.ids)) // 2


def _figures(
    comparison: language_quality.Comparison, embedding_error: float, beside_first: bool
) -> Figures:
    found = comparison.quality(GenerateGate())
    # No perplexity: what follows a call may be an image's token, which nobody predicts.
    figures: Figures = {"tokens": found.tokens}
    if beside_first:
        figures |= {
            "next_token_agreement": found.next_token_agreement,
            "kl_divergence": found.kl_divergence,
            "logit_max_error": found.logit_max_error,
            "embedding_max_error": embedding_error,
        }
    return figures
