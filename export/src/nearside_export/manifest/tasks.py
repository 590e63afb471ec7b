"""What a manifest says for one task alone.

Each class is the part of the JSON object that its task adds, beside name, licence, source and
variants. Its fields are refused in manifests of the other tasks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from nearside_export.image_spec import ImageSpec
from nearside_export.manifest.files import FileRef

Output = Literal["logits", "probabilities"]
Pooling = Literal["mean", "cls", "last"]


@dataclass(frozen=True)
class Classify:
    """Task ``classify``: f32 picture to a score a class.

    Line i of ``labels`` is class i; softmax is applied to ``logits`` only.
    """

    NAME: ClassVar[str] = "classify"

    labels: FileRef
    image: ImageSpec
    output: Output

    def files(self) -> Iterator[FileRef]:
        """Give the files that it names."""
        yield self.labels


@dataclass(frozen=True)
class EmbeddingFacts:
    """What an embedding is: f32 ``[1, dimensions]`` of at most ``max_tokens`` tokens.

    Pooling and normalising happen inside the program; ``pooling`` and ``normalize`` say what was
    done. A longer text is cut to ``max_tokens``, special tokens included.
    """

    dimensions: int
    pooling: Pooling
    normalize: bool
    max_tokens: int

    def __post_init__(self) -> None:
        _at_least("dimensions", self.dimensions, 1)
        _at_least("max_tokens", self.max_tokens, 1)


@dataclass(frozen=True)
class Embed:
    """Task ``embed``: text to a vector. ``tokenizer`` is a Hugging Face ``tokenizer.json``."""

    NAME: ClassVar[str] = "embed"

    tokenizer: FileRef
    embedding: EmbeddingFacts

    def files(self) -> Iterator[FileRef]:
        """Give the files that it names."""
        yield self.tokenizer


@dataclass(frozen=True)
class GenerationDefaults:
    """How to sample unless the app says otherwise; what is left out is the runtime's default."""

    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    repetition_penalty: float | None = None

    def __post_init__(self) -> None:
        if self.temperature is not None and self.temperature < 0.0:
            raise ValueError(f"temperature {self.temperature} must be at least 0")
        if self.top_k is not None:
            _at_least("top_k", self.top_k, 1)
        if self.top_p is not None and not 0.0 < self.top_p <= 1.0:
            raise ValueError(f"top_p {self.top_p} must be above 0, at most 1")
        if self.repetition_penalty is not None and self.repetition_penalty <= 0.0:
            raise ValueError(f"repetition_penalty {self.repetition_penalty} must be above 0")


@dataclass(frozen=True)
class GenerationFacts:
    """What the decode loop must know.

    ``context_length`` positions in the KV cache; ``max_prefill_tokens`` tokens a call at most;
    ``vocab_size`` logits a position. ``bos_id`` is put first if ``add_bos``; any of ``eos_ids``
    ends the text. ``sliding_window`` positions back are seen by the layers that have a window.
    These keep the newest ``sliding_slots`` positions, or all of them where that is null: a host may
    go back ``sliding_slots - sliding_window`` positions from the newest one, no further, once there
    were more than ``sliding_slots``.
    """

    context_length: int
    max_prefill_tokens: int
    vocab_size: int
    bos_id: int | None
    eos_ids: list[int]
    add_bos: bool
    sliding_window: int | None
    sliding_slots: int | None = None
    defaults: GenerationDefaults = field(default_factory=GenerationDefaults)

    def __post_init__(self) -> None:
        _at_least("context_length", self.context_length, 1)
        _at_least("max_prefill_tokens", self.max_prefill_tokens, 1)
        _at_least("vocab_size", self.vocab_size, 1)
        if self.max_prefill_tokens > self.context_length:
            raise ValueError(
                f"max_prefill_tokens {self.max_prefill_tokens} is more than "
                f"context_length {self.context_length}"
            )
        if self.sliding_window is not None:
            _at_least("sliding_window", self.sliding_window, 1)
        if self.sliding_slots is not None:
            self._check_slots(self.sliding_slots)
        if self.add_bos and self.bos_id is None:
            raise ValueError("add_bos is true and there is no bos_id")
        ids = [*self.eos_ids, *([] if self.bos_id is None else [self.bos_id])]
        if wrong := [i for i in ids if not 0 <= i < self.vocab_size]:
            raise ValueError(f"token id {wrong[0]} is not below vocab_size {self.vocab_size}")

    def _check_slots(self, slots: int) -> None:
        if self.sliding_window is None:
            raise ValueError("there are sliding_slots and no sliding_window")
        least = min(self.context_length, self.sliding_window)
        if not least <= slots <= self.context_length:
            raise ValueError(f"sliding_slots {slots} must be {least} to {self.context_length}")


@dataclass(frozen=True)
class Generate:
    """Task ``generate``: text to text.

    ``tokenizer`` is a Hugging Face ``tokenizer.json``, ``chat_template`` a Jinja file.
    """

    NAME: ClassVar[str] = "generate"

    tokenizer: FileRef
    generation: GenerationFacts
    chat_template: FileRef | None = None

    def files(self) -> Iterator[FileRef]:
        """Give the files that it names."""
        yield self.tokenizer
        if self.chat_template is not None:
            yield self.chat_template


@dataclass(frozen=True)
class VisionFacts:
    """How a picture stands among the tokens: ``tokens_per_image`` times ``image_token_id``.

    ``begin_image_id`` and ``end_image_id`` stand around them, where the model has such.
    ``bidirectional``: the rows of an image see each other (Gemma 3), not only those before them.
    """

    tokens_per_image: int
    image_token_id: int
    begin_image_id: int | None
    end_image_id: int | None
    bidirectional: bool

    def __post_init__(self) -> None:
        _at_least("tokens_per_image", self.tokens_per_image, 1)
        for name in ("image_token_id", "begin_image_id", "end_image_id"):
            if (value := getattr(self, name)) is not None:
                _at_least(name, value, 0)


@dataclass(frozen=True)
class Describe:
    """Task ``describe``: pictures and text to text."""

    NAME: ClassVar[str] = "describe"

    tokenizer: FileRef
    generation: GenerationFacts
    image: ImageSpec
    vision: VisionFacts
    chat_template: FileRef | None = None

    def files(self) -> Iterator[FileRef]:
        """Give the files that it names."""
        yield self.tokenizer
        if self.chat_template is not None:
            yield self.chat_template


Task = Classify | Embed | Generate | Describe

TASKS: dict[str, type[Task]] = {task.NAME: task for task in (Classify, Embed, Generate, Describe)}


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise ValueError(f"{name} {value} must be at least {least}")
