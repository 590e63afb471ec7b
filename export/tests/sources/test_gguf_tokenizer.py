"""Tokenizers inside GGUF files, beside what transformers makes of the same metadata."""

from __future__ import annotations

from typing import Any

import pytest
from tokenizers import Tokenizer
from transformers.integrations.gguf.gguf_tokenizer_mapping import convert_gguf_tokenizer

from nearside_export.errors import SourceError
from nearside_export.sources.fields import Fields
from nearside_export.sources.gguf_tokenizer import read_tokenizer

TEXTS = [
    "the then",
    "the  then   the",
    " the then ",
    "Ünder the\nthen €",
    "he<eos>the",
    "",
]
SPACE = 259
WORDS = ["▁", "t", "h", "e", "n", "th", "he", "the", "en", "▁the", "▁then", "then", "▁▁", "▁▁▁"]


def sentencepiece(gemma: bool) -> dict[str, Any]:
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    words = [" " * len(w) if gemma and set(w) == {"▁"} and len(w) > 1 else w for w in WORDS]
    tokens = ["<unk>", "<bos>", "<eos>", *bytes_, *words]
    return {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.scores": [0.0] * 259 + [-float(i) for i in range(len(words))],
        "tokenizer.ggml.token_type": [2, 3, 3, *[6] * 256, *[1] * len(words)],
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.unknown_token_id": 0,
        "tokenizer.ggml.add_space_prefix": not gemma,
    }


@pytest.mark.parametrize("architecture", ["gemma3", "llama"])
def test_sentencepiece_equals_what_transformers_makes_of_it(architecture: str) -> None:
    metadata = sentencepiece(gemma=architecture == "gemma3")
    ours = read_tokenizer(Fields(metadata, "model.gguf"), 300, architecture)
    assert (ours.bos_id, ours.eos_ids, ours.add_bos) == (1, (2,), True)
    tokenizer = Tokenizer.from_str(ours.json)
    given = {key.removeprefix("tokenizer.ggml."): value for key, value in metadata.items()}
    renamed = {"model": "tokenizer_type", "unknown_token_id": "unk_token_id"}
    given = {renamed.get(key, key): value for key, value in given.items()}
    reference, _ = convert_gguf_tokenizer(architecture, given)
    for text in TEXTS:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        want = reference.encode(text, add_special_tokens=False).ids
        # SentencePiece and llama.cpp put a space before every piece of text, one that begins with
        # a space and one that follows a special token too; transformers does not.
        if architecture == "llama" and text.startswith(" "):
            want = [SPACE, *want]
        if architecture == "llama" and text == "he<eos>the":
            want = [*want[:-1], tokenizer.token_to_id("▁the")]
        assert ids == want, text
        assert tokenizer.encode(text).ids == [1, *ids]
        if "<eos>" not in text:
            assert tokenizer.decode(ids) == text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tokenizer.ggml.scores": [0.0]}, "scores has 1 entries"),
        ({"tokenizer.ggml.token_type": [1]}, "token_type has 1 entries"),
        ({"tokenizer.ggml.tokens": ["a", "a"]}, "has a token twice"),
        ({"tokenizer.ggml.bos_token_id": 9999}, "bos_token_id is 9999"),
        ({"tokenizer.ggml.eos_token_id": 9999}, "end-of-sequence token 9999"),
        ({"tokenizer.ggml.unknown_token_id": 9999}, "unknown_token_id is 9999"),
        ({"tokenizer.ggml.model": None}, "tokenizer.ggml.model is missing"),
    ],
)
def test_what_does_not_fit_is_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(SourceError, match=message):
        read_tokenizer(Fields({**sentencepiece(False), **change}, "model.gguf"), 300, "llama")
