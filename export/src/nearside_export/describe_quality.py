"""How far an exported model that sees and writes is from transformers' eager fp32."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from nearside_export import language_quality
from nearside_export.architectures.multimodal.model import (
    PER_LAYER_EMBEDDING,
    TEXT_DECODER,
    TOKEN_EMBEDDING,
    VISION_ENCODER,
    Multimodal,
)
from nearside_export.errors import QualityError
from nearside_export.manifest import DescribeGate, DescribeQuality
from nearside_export.progress import track
from nearside_export.runtime import RunnableMethod

DIGITS = 7

Method = Callable[[Sequence[NDArray]], NDArray[np.float32]]
"""A method with one output."""


@dataclass(frozen=True)
class Prompt:
    """Token ids with one image, whose rows are ``first`` to before ``last``."""

    ids: list[int]
    first: int
    last: int


def chunks(prompt: Prompt, longest: int, prefilled: int) -> Iterator[tuple[int, int]]:
    """Cut a prompt into calls: ``prefilled`` rows in as few as can be, then one by one.

    No call has more than ``longest`` rows, and none holds a part of the image only, so that its
    rows can see each other.
    """
    start = 0
    while start < prefilled:
        end = min(start + longest, prefilled)
        if prompt.first < end < prompt.last:
            end = prompt.first
        if end <= start:
            raise ValueError(f"{prompt.last - prompt.first} image rows in calls of {longest}")
        yield start, end
        start = end
    for row in range(prefilled, len(prompt.ids)):
        yield row, row + 1


def visible_until(prompt: Prompt, bidirectional: bool) -> NDArray[np.int64]:
    """Give the last position that each row sees: its own, or that of its image's end."""
    until = np.arange(len(prompt.ids), dtype=np.int64)
    if bidirectional:
        until[prompt.first : prompt.last] = prompt.last - 1
    return until


class Program:
    """All methods of a model, called as a runtime calls them."""

    def __init__(self, methods: Mapping[str, Method], bidirectional: bool) -> None:
        self._methods = methods
        self._bidirectional = bidirectional

    @classmethod
    def of_methods(cls, methods: Sequence[RunnableMethod], bidirectional: bool) -> Program:
        """Take methods that a runtime has loaded."""
        first = {m.name: lambda inputs, m=m: m.run(inputs)[0] for m in methods}
        return cls(first, bidirectional)

    @classmethod
    def of_modules(cls, model: Multimodal) -> Program:
        """Take the eager modules themselves."""

        def method(module: torch.nn.Module) -> Method:
            def run(inputs: Sequence[NDArray]) -> NDArray[np.float32]:
                with torch.no_grad():
                    return module(*(torch.from_numpy(i) for i in inputs)).numpy()

            return run

        methods = {name: method(module) for name, module in model.methods.items()}
        return cls(methods, model.vision.bidirectional)

    def see(self, pixels: NDArray[np.float32]) -> NDArray[np.float32]:
        """Embed a picture: f32 ``[1, N, D]``."""
        return self._methods[VISION_ENCODER]([pixels])

    def read(
        self, prompt: Prompt, image: NDArray[np.float32], calls: Sequence[tuple[int, int]]
    ) -> NDArray[np.float32]:
        """Logits f32 ``[calls, vocab]`` after the last row of each of ``calls``."""
        ids = np.asarray([prompt.ids], dtype=np.int64)
        until = visible_until(prompt, self._bidirectional)
        positions = np.arange(len(prompt.ids), dtype=np.int64)
        rows = []
        for start, end in calls:
            part = np.ascontiguousarray(ids[:, start:end])
            embeds = self._methods[TOKEN_EMBEDDING]([part])
            first, last = max(start, prompt.first), min(end, prompt.last)
            if first < last:
                shown = image[:, first - prompt.first : last - prompt.first]
                embeds[:, first - start : last - start] = shown
            inputs = [embeds, positions[start:end], until[start:end]]
            if PER_LAYER_EMBEDDING in self._methods:
                inputs.append(self._methods[PER_LAYER_EMBEDDING]([part]))
            rows.append(self._methods[TEXT_DECODER](inputs)[0, 0])
        return np.stack(rows)


def expected(
    model: Multimodal, prompt: Prompt, pixels: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Give transformers' image embedding f32 ``[1, N, D]`` and logits f32 ``[rows, vocab]``."""
    ids, picture = torch.tensor([prompt.ids]), torch.from_numpy(pixels)
    with torch.no_grad():
        image = model.reference.get_image_features(picture).pooler_output
        kinds = (ids == model.vision.image_token_id).long()
        logits = model.reference(input_ids=ids, pixel_values=picture, token_type_ids=kinds).logits
    return image.numpy(), logits[0].numpy()


def measure(
    model: Multimodal,
    program: Program,
    prompts: Sequence[tuple[Prompt, NDArray[np.float32]]],
    longest: int,
    gate: DescribeGate,
) -> DescribeQuality:
    """Compare the program with transformers on prompts, each with its picture's pixels.

    The first half of what follows the image is prefilled, the rest decoded one by one.
    `QualityError` when a value is not finite.
    """
    embedding_error, logit_error, divergence, agree, tokens = 0.0, 0.0, 0.0, 0, 0
    for prompt, pixels in track(prompts, len(prompts), "measuring, pictures"):
        image, logits = expected(model, prompt, pixels)
        seen = program.see(pixels)
        prefilled = (prompt.last + len(prompt.ids)) // 2
        calls = list(chunks(prompt, longest, prefilled))
        got = program.read(prompt, seen, calls)
        want = logits[[end - 1 for _, end in calls]]
        if not all(np.isfinite(values).all() for values in (image, seen, want, got)):
            raise QualityError(
                "a logit or an image embedding is NaN or infinite: model or export is broken"
            )
        embedding_error = max(embedding_error, float(np.abs(seen - image).max()))
        logit_error = max(logit_error, float(np.abs(got - want).max()))
        divergence += language_quality.divergence(
            *(torch.from_numpy(rows).double().log_softmax(-1) for rows in (want, got))
        )
        agree += int((got.argmax(-1) == want.argmax(-1)).sum())
        tokens += len(calls)
    return DescribeQuality(
        images=len(prompts),
        tokens=tokens,
        logit_max_error=round(logit_error, DIGITS),
        embedding_max_error=round(embedding_error, DIGITS),
        next_token_agreement=round(agree / tokens, 4),
        gate=gate,
        kl_divergence=round(max(divergence / tokens, 0.0), 9),
    )


def check_gate(variant: str, quality: DescribeQuality) -> None:
    """`QualityError` when logits, image embeddings or predictions are beyond the gate."""
    gate = quality.gate
    limit = gate.logit_max_error
    problems = [
        f"{what} is {error:.2e} off, at most {limit:.0e}"
        for what, error in (
            ("a logit", quality.logit_max_error),
            ("a value of an image embedding", quality.embedding_max_error),
        )
        if limit is not None and error > limit
    ]
    divergence = quality.kl_divergence
    if gate.kl_divergence is not None and (divergence is None or divergence > gate.kl_divergence):
        found = "not known" if divergence is None else f"{divergence:.4f} nats"
        problems.append(f"KL from fp32 is {found}, at most {gate.kl_divergence}")
    if problems:
        raise QualityError(
            f"variant {variant} is below its quality gate: {'; '.join(problems)} (on "
            f"{quality.images} pictures and {quality.tokens} tokens). Nothing was written"
        )
