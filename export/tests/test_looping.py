"""What counts as a loop, and how answers are made."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest

from nearside_export import looping
from nearside_export.errors import SourceError
from nearside_export.recipes import tiny_decoder
from nearside_export.sources.language import open_source
from nearside_export.sources.model import Tokenizer


@pytest.mark.parametrize(
    ("tokens", "stuck"),
    [
        (list(range(64)), False),
        ([*range(40), *[7] * 25], True),
        ([*range(40), *[7] * 20], False),
        ([*range(10), *[1, 2, 3, 4] * 10], True),
        ([*range(10), *[1, 2, 3, 4] * 10, 99], False),
        (list(range(16)) * 3, True),
        (list(range(17)) * 4, False),
        ([], False),
        ([5] * 12, False),
    ],
)
def test_a_loop_is_the_same_few_tokens_over_and_over(tokens: list[int], stuck: bool) -> None:
    assert looping.loops(tokens) is stuck


def counting(longest: int, after: dict[int, int]) -> tuple[looping.Model, list[tuple[int, int]]]:
    """A model that answers each token with the next number, or as ``after`` says."""
    calls: list[tuple[int, int]] = []

    def step(tokens: Sequence[int], position: int) -> int:
        calls.append((position, len(tokens)))
        return after.get(tokens[-1], tokens[-1] + 1)

    return looping.Model(calls.clear, step, longest), calls


def test_an_answer_ends_where_it_should_and_chunks_its_prompt() -> None:
    model, calls = counting(4, {})
    assert model.answer([1, 2, 3, 4, 5, 6], {9}) == [7, 8]
    assert calls == [(0, 4), (4, 2), (6, 1), (7, 1)]
    assert model.answer([1], set()) == list(range(2, 66))


def test_only_loops_that_the_reference_does_not_have_count() -> None:
    stuck, _ = counting(8, {30: 30, 50: 50})
    reference, _ = counting(8, {30: 30})
    prompts = [[10], [40], [200]]
    assert looping.count(stuck, reference, prompts, set()) == 1
    assert looping.count(stuck, stuck, prompts, set()) == 0


def test_a_loop_that_the_reference_runs_into_after_the_same_word_does_not_count() -> None:
    stuck, _ = counting(8, {40: 700, 700: 700})
    for following, counted in ((700, 0), (701, 1)):
        reference, _ = counting(8, {700: following})
        assert looping.count(stuck, reference, [[38]], set()) == counted


def test_requests_are_put_as_the_chat_template_says(tokenizer: Tokenizer) -> None:
    from tokenizers import Tokenizer as Loaded

    prompts = looping.prompts(tokenizer, 1024)
    text = Loaded.from_str(tokenizer.json).decode(prompts[0], skip_special_tokens=False)
    assert len(prompts) == 20
    assert "What is the capital of France?" in text
    assert len(text) > len("What is the capital of France?")
    plain = dataclasses.replace(tokenizer, chat_template=None)
    assert looping.prompts(plain, 1024)[0][0] == tokenizer.bos_id
    assert looping.prompts(tokenizer, looping.ANSWER_TOKENS + 1) == []


def test_a_template_that_refuses_is_an_error(tokenizer: Tokenizer) -> None:
    refuses = dataclasses.replace(tokenizer, chat_template="{{ raise_exception('no user') }}")
    with pytest.raises(SourceError, match="can't be rendered for a user's message: no user"):
        looping.prompts(refuses, 1024)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    folder = tmp_path_factory.mktemp("model") / "tiny"
    folder.mkdir()
    tiny_decoder.llama(folder)
    return open_source(folder).tokenizer
