"""English text for language models: held out to compare on, and other to calibrate with.

The larger part is news from the Lee corpora in the PyPI package gensim (see :mod:`.retrieval`):
``lee.cor`` is held out, ``lee_background.cor`` calibrates. No text is in both.
"""

from __future__ import annotations

import torch

from nearside_export.data import retrieval
from nearside_export.sources.model import Tokenizer

HELD_OUT = """\
The lighthouse keeper wrote in his log every evening, even when there was nothing to say. On most
days he noted the wind, the height of the waves, and the names of the ships that passed. When the
fog came in, the horn sounded twice a minute, and he slept in short pieces between the signals.

In the spring of the third year a young engineer arrived with a crate of instruments. She wanted to
know how far the light could really be seen, and at what angle the lens threw most of it away. They
measured for two weeks. The answer was simpler than either had expected: a film of salt, thinner
than paper, took almost a third of the light before it left the tower.

"Clean the glass more often," she said, and closed her notebook. He laughed, since he had cleaned it
every morning for eleven years. Then he began to clean it at night as well.
"""
"""Written for this project."""


def held_out(tokenizer: Tokenizer, length: int, count: int) -> torch.Tensor:
    """At most ``count`` windows i64 ``[n, length]`` of text that nothing is calibrated with."""
    return _windows(tokenizer, [HELD_OUT, *retrieval.documents()], length, count)


def calibration(tokenizer: Tokenizer, length: int, count: int) -> torch.Tensor:
    """At most ``count`` windows i64 ``[n, length]`` of text that nothing is measured on."""
    return _windows(tokenizer, retrieval.background(), length, count)


def _windows(tokenizer: Tokenizer, texts: list[str], length: int, count: int) -> torch.Tensor:
    """Cut texts, one after the other, into windows; each begins as the model's prompts do."""
    from tokenizers import Tokenizer as Loaded

    encoder = Loaded.from_str(tokenizer.json)
    first = [tokenizer.bos_id] if tokenizer.add_bos and tokenizer.bos_id is not None else []
    body = max(length - len(first), 1)
    ids: list[int] = []
    for text in texts:
        ids += encoder.encode(text, add_special_tokens=False).ids
        if len(ids) >= body * count:
            break
    whole = min(len(ids) // body, count)
    windows = [[*first, *ids[i * body : (i + 1) * body]] for i in range(whole)]
    return torch.tensor(windows, dtype=torch.int64)
