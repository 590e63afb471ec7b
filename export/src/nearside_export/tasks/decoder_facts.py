"""A decoder quantised on calibration text, and what the manifest says of how."""

from __future__ import annotations

from functools import cache
from typing import Any

from nearside_export.architectures.decoder.model import Decoder
from nearside_export.data.text import calibration
from nearside_export.progress import say
from nearside_export.quantise import decoder
from nearside_export.resume.work import NO_WORK, Work
from nearside_export.sources.model import Tensors, Tokenizer
from nearside_export.tasks.generate_quality import WINDOW

FIT_WINDOWS = 32
CHOOSE_WINDOWS = 2


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

    @cache
    def texts() -> decoder.Calibration:
        length = min(WINDOW, model.context_length)
        windows = calibration(tokenizer, length, FIT_WINDOWS + CHOOSE_WINDOWS)
        return decoder.Calibration(windows[CHOOSE_WINDOWS:], windows[:CHOOSE_WINDOWS])

    used = decoder.apply(
        model,
        scheme,
        tensors,
        group_size=group_size,
        rounding=rounding,
        embedding_bits=embedding_bits,
        texts=texts,
        say=say,
        work=work,
    )
    if scheme.bits == 8:
        return {"embedding_bits": embedding_bits}
    return {"embedding_bits": embedding_bits, "group_size": group_size, "rounding": used}
