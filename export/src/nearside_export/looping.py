"""Whether a language model that answers plain requests gets stuck in a loop.

Answers always take the most likely token: that is when models loop, and it is the same each time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from nearside_export.data.prompts import PROMPTS
from nearside_export.errors import SourceError
from nearside_export.progress import track
from nearside_export.sources.model import Tokenizer

ANSWER_TOKENS = 64
LOOP_TOKENS = 24
"""Tokens at the end of an answer that repeat those before them: fewer are no loop."""
LONGEST_PERIOD = 16
"""Tokens of what is repeated, which must be there three times."""

Step = Callable[[Sequence[int], int], int]
"""Tokens and the first one's position to the most likely next token."""


@dataclass(frozen=True)
class Model:
    """One that answers: ``begin`` empties its cache, ``step`` takes ``longest`` tokens at most."""

    begin: Callable[[], None]
    step: Step
    longest: int

    def answer(
        self, prompt: Sequence[int], ends: Collection[int], begun: Sequence[int] = ()
    ) -> list[int]:
        """Give at most `ANSWER_TOKENS`, without the one of ``ends``; ``begun`` are the first."""
        self.begin()
        answer = list(begun)
        given, position = [*prompt, *begun], 0
        while True:
            for start in range(0, len(given), self.longest):
                part = given[start : start + self.longest]
                following = self.step(part, position)
                position += len(part)
            if following in ends:
                return answer
            answer.append(following)
            if len(answer) >= ANSWER_TOKENS:
                return answer
            given = [following]


def count(model: Model, reference: Model, prompts: Sequence[Sequence[int]], ends: Any) -> int:  # noqa: ANN401
    """Count the prompts at which ``model`` loops by a fault of its own.

    It is none where ``reference`` loops too: by itself, or once it has said the word with which
    ``model`` first left it. Which of two words that are as likely comes first is a matter of chance
    for all but the most exact arithmetic; what follows from it is not.
    """
    shown = track(prompts, len(prompts), "answering, prompts")
    return sum(_own_loop(model.answer(p, ends), reference, p, ends) for p in shown)


def _own_loop(
    answer: Sequence[int], reference: Model, prompt: Sequence[int], ends: Collection[int]
) -> bool:
    if not loops(answer):
        return False
    right = reference.answer(prompt, ends)
    if loops(right):
        return False
    same = (a == b for a, b in zip(answer, right, strict=False))
    shared = sum(itertools.takewhile(bool, same))
    return not loops(reference.answer(prompt, ends, answer[: shared + 1]))


def loops(tokens: Sequence[int]) -> bool:
    """Whether they end in the same few tokens over and over."""
    for period in range(1, LONGEST_PERIOD + 1):
        repeated = 0
        while repeated + period < len(tokens) and (
            tokens[-1 - repeated] == tokens[-1 - repeated - period]
        ):
            repeated += 1
        if repeated >= max(LOOP_TOKENS, 2 * period):
            return True
    return False


def prompts(tokenizer: Tokenizer, context: int) -> list[list[int]]:
    """`PROMPTS` as token ids, by the chat template where there is one; those that fit.

    `SourceError` where the template can't be rendered.
    """
    from tokenizers import Tokenizer as Loaded

    encoder = Loaded.from_str(tokenizer.json)
    first = [tokenizer.bos_id] if tokenizer.add_bos and tokenizer.bos_id is not None else []
    found = []
    for prompt in PROMPTS:
        if tokenizer.chat_template is None:
            ids = [*first, *encoder.encode(prompt, add_special_tokens=False).ids]
        else:
            ids = encoder.encode(
                _rendered(tokenizer, encoder, prompt), add_special_tokens=False
            ).ids
        if len(ids) + ANSWER_TOKENS <= context:
            found.append(ids)
    return found


def _rendered(tokenizer: Tokenizer, encoder: Any, prompt: str) -> str:  # noqa: ANN401
    from jinja2 import TemplateError
    from transformers.utils.chat_template_utils import render_jinja_template

    bos = "" if tokenizer.bos_id is None else encoder.id_to_token(tokenizer.bos_id)
    eos = encoder.id_to_token(tokenizer.eos_ids[0])
    try:
        texts, _ = render_jinja_template(
            [[{"role": "user", "content": prompt}]],
            chat_template=tokenizer.chat_template,
            add_generation_prompt=True,
            bos_token=bos,
            eos_token=eos,
        )
    except (TemplateError, TypeError, ValueError) as error:
        raise SourceError(
            f"the chat template can't be rendered for a user's message: {error}. Fetch the "
            "tokenizer's files again"
        ) from error
    return str(texts[0])
