"""How an exported language model predicts held-out text and answers requests, beside fp32."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch

from nearside_export import language_quality, looping
from nearside_export.architectures.decoder.model import Decoder
from nearside_export.data.text import held_out
from nearside_export.lower.program import LoweredProgram
from nearside_export.manifest import GenerateGate, GenerateQuality
from nearside_export.progress import track
from nearside_export.sources.model import Tokenizer
from nearside_export.tasks.running import running

GATES = {
    "fp32": GenerateGate(logit_max_error=1e-3),
    "int8": GenerateGate(perplexity_ratio=1.02, kl_divergence=0.05),
    "int8w": GenerateGate(perplexity_ratio=1.02, kl_divergence=0.05),
    "8da4w": GenerateGate(perplexity_ratio=1.10, looping=0, kl_divergence=0.3),
}
"""``--variant`` to its quality gate.

Perplexity alone says little of a model that knows nothing: one with other predictions than fp32's,
broken by the export, may have the same.
"""

WINDOW = 256
"""Tokens of a piece of text that a model is measured on or calibrated with."""
WINDOWS = 6


def measure(
    reference: Decoder,
    lowered: LoweredProgram,
    tokenizer: Tokenizer,
    max_prefill_tokens: int,
    gate: GenerateGate,
    data: Sequence[Path] = (),
) -> GenerateQuality:
    """Compare the program, as it runs, with ``reference``: text, and answers if the gate asks.

    ``data`` are its ``.ptd`` files.
    """
    names = lowered.prefill_and_decode
    with running(lowered, names, data, shared=len(names) > 1) as methods:
        program = language_quality.logits(methods)

        def predictions(window: torch.Tensor, chunk: int) -> torch.Tensor:
            return language_quality.predictions(program, window.tolist(), chunk)

        def most_likely(tokens: Sequence[int], position: int) -> int:
            ids = np.asarray([tokens], dtype=np.int64)
            return int(program(ids, np.arange(position, position + len(tokens))).argmax())

        quality = _compare(reference, predictions, tokenizer, max_prefill_tokens, gate)
        if gate.looping is None:
            return quality
        model = looping.Model(methods[0].reset, most_likely, max_prefill_tokens)
        prompts = looping.prompts(tokenizer, reference.context_length)
        found = looping.count(model, _answering(reference), prompts, tokenizer.eos_ids)
        return dataclasses.replace(quality, prompts=len(prompts), looping=found)


def estimate(
    reference: Decoder,
    model: Decoder,
    tokenizer: Tokenizer,
    max_prefill_tokens: int,
    gate: GenerateGate,
) -> GenerateQuality:
    """Compare ``model`` with ``reference`` in eager PyTorch, on text only: answers take minutes.

    Texts are predicted in one piece, which gives the same but for rounding.
    """
    return _compare(reference, partial(_eager, model), tokenizer, max_prefill_tokens, gate)


def _compare(
    reference: Decoder,
    predictions: Callable[[torch.Tensor, int], torch.Tensor],
    tokenizer: Tokenizer,
    max_prefill_tokens: int,
    gate: GenerateGate,
) -> GenerateQuality:
    """Compare ``predictions`` of a window, prefilled in chunks, with those of ``reference``."""
    windows = held_out(tokenizer, min(WINDOW, reference.context_length), WINDOWS)
    length = windows.shape[1]
    chunk = min(max_prefill_tokens, max(1, length // 4))
    ends = language_quality.ends(length, chunk)
    comparison = language_quality.Comparison()
    for window in track(windows, len(windows), "measuring, windows"):
        following = window[torch.tensor(ends[:-1])].tolist()
        comparison.add(_eager(reference, window, chunk), predictions(window, chunk), following)
    return comparison.quality(gate)


def _eager(model: Decoder, window: torch.Tensor, chunk: int) -> torch.Tensor:
    """Logits f64 ``[n, vocab]`` after the tokens at `language_quality.ends`."""
    length = len(window)
    rows = torch.tensor(language_quality.ends(length, chunk)) - 1
    with torch.no_grad():
        stream = model.stream(model.embed(window[None]), torch.arange(length))
        return model.logits(stream[:, rows])[0].double()


def _answering(model: Decoder) -> looping.Model:
    def most_likely(tokens: Sequence[int], position: int) -> int:
        positions = torch.arange(position, position + len(tokens))
        with torch.no_grad():
            return int(model(torch.tensor([tokens]), positions).argmax())

    return looping.Model(model.reset, most_likely, model.context_length)
