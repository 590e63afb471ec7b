"""A tokenizer as packages carry it, and the facts that a decode loop needs of it."""

from __future__ import annotations

import json
from typing import Any

from nearside_export.errors import SourceError, UnsupportedError
from nearside_export.sources.fields import Fields
from nearside_export.sources.model import Tokenizer

END_OF_TURN = ("<end_of_turn>", "<|im_end|>", "<|eot_id|>")
"""Chat templates' ends of a turn: they end an answer, whether the configuration says so or not."""


def assemble(
    text: str,
    file: str,
    vocab_size: int,
    *,
    bos: int | str | None,
    eos: list[int | str],
    add_bos: bool,
    chat_template: str | None,
    defaults: dict[str, float],
) -> Tokenizer:
    """Check a ``tokenizer.json`` (``text``, read from ``file``) and put the facts together.

    ``bos`` and ``eos`` are ids or tokens. `SourceError` when the file can't be used, when a token
    is not in it, when it gives ids that the model's ``vocab_size`` logits don't have, or when
    nothing would end a generation.
    """
    raw, text = _without_limits(_parse(text, file), text)
    raw, text = _without_tokens_beyond(raw, text, vocab_size)
    tokenizer = _load(text, file)
    highest = max(tokenizer.get_vocab(with_added_tokens=True).values(), default=-1)
    if highest < 0:
        raise SourceError(f"{file}: model.vocab is empty. Fetch it again")
    if highest >= vocab_size:
        raise SourceError(
            f"{file} gives token ids up to {highest}, but the model has {vocab_size} logits "
            "(vocab_size): tokenizer and model belong to different models"
        )

    def number(token: int | str, what: str) -> int:
        found = tokenizer.token_to_id(token) if isinstance(token, str) else token
        if found is None or not 0 <= found < vocab_size:
            raise SourceError(
                f"{file}: the {what} token {token!r} is not among its {vocab_size} tokens. Correct "
                "tokenizer_config.json or generation_config.json"
            )
        return found

    ends = {number(token, "end-of-sequence") for token in eos}
    ends |= {i for t in END_OF_TURN if (i := tokenizer.token_to_id(t)) is not None}
    if not ends:
        raise SourceError(
            f"{file}: no end-of-sequence token is known, so that generation would never end. Add "
            "eos_token_id to generation_config.json"
        )
    first = None if bos is None else number(bos, "beginning-of-sequence")
    begins = _encoded(tokenizer, file)[:1] == [first]
    _check_template(chat_template)
    return Tokenizer(
        json=text,
        chat_template=chat_template,
        bos_id=first,
        eos_ids=tuple(sorted(ends)),
        add_bos=first is not None and (add_bos or begins),
        defaults=defaults,
    )


def sampling_defaults(generation: Fields) -> dict[str, float]:
    """Read the sampling values of a ``generation_config.json``; none where it does not sample."""
    if not generation.boolean("do_sample", False):
        return {}
    found: dict[str, float] = {}
    for name in ("temperature", "top_p", "repetition_penalty"):
        if name in generation:
            found[name] = generation.number(name)
    if found.get("top_p", 1.0) > 1.0:
        raise SourceError(f"{generation.name('top_p')} is {found['top_p']}, but must be at most 1")
    if generation.integer("top_k", 0, minimum=0):
        found["top_k"] = generation.integer("top_k")
    return found


def _parse(text: str, file: str) -> dict[str, Any]:
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{file} can't be read as JSON: {error}. Fetch it again") from error
    if not isinstance(raw, dict):
        raise SourceError(f"{file} must hold a JSON object. Fetch it again")
    model = Fields(raw, file).child("model")
    if model.text("type", "BPE") not in ("BPE", "Unigram", "WordPiece", "WordLevel"):
        raise UnsupportedError(f"{model.name('type')} is {model.text('type')!r}, an unknown kind")
    if "vocab" not in model:
        raise SourceError(f"{model.name('vocab')} is missing. Fetch the file again")
    return raw


def _load(text: str, file: str) -> Any:  # noqa: ANN401
    from tokenizers import Tokenizer as Loaded

    try:
        return Loaded.from_str(text)
    except BaseException as error:
        raise _broken(file, "loaded", error) from error


def _encoded(tokenizer: Any, file: str) -> list[int]:  # noqa: ANN401
    """Encode one letter, with the special tokens that the tokenizer adds."""
    try:
        return list(tokenizer.encode("a").ids)
    except BaseException as error:
        raise _broken(file, "used", error) from error


def _broken(file: str, what: str, error: BaseException) -> BaseException:
    """Give what to raise: the library raises bare exceptions, and panics that are not even that."""
    if isinstance(error, KeyboardInterrupt | SystemExit) or type(error).__name__ == "_Terminated":
        return error
    return SourceError(f"{file} can't be {what}: {error}. Fetch it again")


def _without_limits(raw: dict[str, Any], text: str) -> tuple[dict[str, Any], str]:
    """Drop truncation and padding: they would cut a prompt short or fill it up."""
    if raw.get("truncation") is None and raw.get("padding") is None:
        return raw, text
    raw = {**raw, "truncation": None, "padding": None}
    return raw, json.dumps(raw, ensure_ascii=False)


def _without_tokens_beyond(
    raw: dict[str, Any], text: str, vocab_size: int
) -> tuple[dict[str, Any], str]:
    """Drop added tokens that the model has no logit for: text models share multimodal tokenizers.

    (Gemma 3's 1B model has 262144 logits, and its tokenizer ``<image_soft_token>`` as 262144.)
    """
    added = raw.get("added_tokens")
    if not isinstance(added, list):
        return raw, text
    kept = [t for t in added if not (isinstance(t, dict) and _id(t) >= vocab_size)]
    if len(kept) == len(added):
        return raw, text
    raw = {**raw, "added_tokens": kept}
    return raw, json.dumps(raw, ensure_ascii=False)


def _id(token: dict[str, Any]) -> int:
    found = token.get("id")
    return found if isinstance(found, int) else -1


def _check_template(template: str | None) -> None:
    if template is None:
        return
    from jinja2 import Environment, TemplateSyntaxError

    environment = Environment(extensions=["jinja2.ext.loopcontrols"])
    # transformers' own block, which marks what a model said.
    plain = template.replace("{% generation %}", "").replace("{% endgeneration %}", "")
    try:
        environment.compile(plain)
    except RecursionError as error:
        raise SourceError(
            "the chat template is nested too deeply. Fetch the tokenizer's files again"
        ) from error
    except TemplateSyntaxError as error:
        raise SourceError(
            f"the chat template is not valid Jinja, line {error.lineno}: {error.message}. Fetch "
            "the tokenizer's files again"
        ) from error
