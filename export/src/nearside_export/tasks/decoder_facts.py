"""A decoder quantised on calibration text, and what the manifest says of how."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from nearside_export.architectures.decoder.model import Decoder
from nearside_export.architectures.packed_decoder.model import PackedDecoder
from nearside_export.data.text import calibration
from nearside_export.manifest.variant import KvCache
from nearside_export.progress import say
from nearside_export.quantise import decoder, packed
from nearside_export.resume.work import NO_WORK, Work
from nearside_export.sources.model import Tensors, Tokenizer
from nearside_export.tasks.generate_quality import WINDOW

FIT_WINDOWS = 32
CHOOSE_WINDOWS = 2


def quantise_packed(
    model: Decoder,
    scheme: decoder.Scheme,
    tensors: Tensors,
    tokenizer: Tokenizer,
    *,
    group_size: int,
    rounding: str,
    embedding_bits: int,
    kv_cache: KvCache,
    work: Work = NO_WORK,
) -> tuple[PackedDecoder, dict[str, Any]]:
    """Make a packed decoder of ``model`` (see `packed.apply`), and say how for the manifest."""
    used, made = packed.apply(
        model,
        scheme,
        tensors,
        cache=kv_cache,
        group_size=group_size,
        rounding=rounding,
        embedding_bits=embedding_bits,
        texts=_texts(model, tokenizer),
        say=say,
        work=work,
    )
    facts = _facts(scheme, embedding_bits, group_size, used)
    return made, {**facts, "attention": "fused", "kv_cache": kv_cache}


def quantise(
    model: Decoder,
    scheme: decoder.Scheme,
    tensors: Tensors,
    tokenizer: Tokenizer,
    *,
    group_size: int,
    rounding: str,
    embedding_bits: int,
    work: Work = NO_WORK,
) -> dict[str, Any]:
    """Quantise ``model`` in place (see `decoder.apply`); return what the manifest says of how."""
    used = decoder.apply(
        model,
        scheme,
        tensors,
        group_size=group_size,
        rounding=rounding,
        embedding_bits=embedding_bits,
        texts=_texts(model, tokenizer),
        say=say,
        work=work,
    )
    return _facts(scheme, embedding_bits, group_size, used)


def _texts(model: Decoder, tokenizer: Tokenizer) -> Callable[[], decoder.Calibration]:
    @cache
    def texts() -> decoder.Calibration:
        length = min(WINDOW, model.context_length)
        windows = calibration(tokenizer, length, FIT_WINDOWS + CHOOSE_WINDOWS)
        return decoder.Calibration(windows[CHOOSE_WINDOWS:], windows[:CHOOSE_WINDOWS])

    return texts


def _facts(
    scheme: decoder.Scheme, embedding_bits: int, group_size: int, used: str
) -> dict[str, Any]:
    if scheme.bits == 8:
        return {"embedding_bits": embedding_bits}
    return {"embedding_bits": embedding_bits, "group_size": group_size, "rounding": used}
