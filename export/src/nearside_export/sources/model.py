"""What every source of a language model gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from nearside_export.sources.fields import Fields

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class QuantisedBlocks:
    """A weight as its file holds it: ``ints * scales + offsets``, for ``group_size`` columns each.

    ``kind`` is ``q4_0`` or ``q4_1`` (4 ``bits``, ints -8..7) or ``q8_0`` (8 bits, -128..127);
    ``ints`` i8 ``[rows, columns]``; ``scales``, of either sign, and ``offsets`` (of ``q4_1``, else
    null) f32 ``[rows, columns / group_size]``.
    """

    kind: str
    bits: int
    group_size: int
    ints: torch.Tensor
    scales: torch.Tensor
    offsets: torch.Tensor | None = None


class Tensors(Protocol):
    """A model's weights by Hugging Face's names, read one at a time."""

    def names(self) -> list[str]:
        """All names."""
        ...

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of a tensor that exists."""
        ...

    def load(self, name: str) -> torch.Tensor:
        """Read a tensor that exists as f32; `SourceError` where a value is not finite."""
        ...

    def blocks(self, name: str) -> QuantisedBlocks | None:
        """Read it as it is quantised in the file; null where it is not, or in another way."""
        ...


@dataclass(frozen=True)
class Tokenizer:
    """``json`` is a whole ``tokenizer.json``.

    ``eos_ids`` end a generation, sorted; ``add_bos``: prompts begin with ``bos_id``. ``defaults``
    are the model's own sampling values (``temperature``, ``top_k``, ``top_p``,
    ``repetition_penalty``), those that it states.
    """

    json: str
    chat_template: str | None
    bos_id: int | None
    eos_ids: tuple[int, ...]
    add_bos: bool
    defaults: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ModelSource:
    """A language model: ``name`` for the package, ``origin`` says where it came from in words."""

    name: str
    origin: str
    licence: str | None
    config: Fields
    tensors: Tensors
    tokenizer: Tokenizer
