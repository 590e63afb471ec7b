"""One exported program of the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from nearside_export.manifest.files import FileRef
from nearside_export.manifest.quality import Quality

PREFILL, DECODE = "prefill", "decode"
"""Methods of a language model that share a KV cache."""

Quantisation = Literal[
    "none",
    "pt2e-static-int8",
    "pt2e-dynamic-int8",
    "int8-weight-only",
    "int8-dynamic",
    "8da4w",
    "fp16",
]
Rounding = Literal[
    "nearest",
    "hqq",
    "gptq",
    "nearest-asymmetric",
    "hqq-asymmetric",
    "gptq-asymmetric",
    "source",
]
EmbeddingBits = Literal[4, 8, 16, 32]
Attention = Literal["plain", "fused"]
KvCache = Literal["f32", "f16", "int8"]


@dataclass(frozen=True)
class MethodFacts:
    """What one method of several needs; the fields mean what they mean in :class:`Variant`."""

    name: str
    delegates: list[str]
    operators: list[str]
    coverage: float
    planned_bytes: int

    def __post_init__(self) -> None:
        _check_share(self.coverage)


@dataclass(frozen=True)
class Variant:
    """One exported program of the model, with what it needs and how good it is.

    ``method`` is the one to begin with: ``forward``, ``prefill`` or ``text_decoder``. Of a language
    model's methods `PREFILL` and `DECODE` the one takes several tokens, the other single ones, and
    both have one KV cache. ``operators`` are those left on portable kernels, as
    ``namespace::name.overload``, sorted. ``coverage`` is the share of operator calls inside
    delegates (see :mod:`nearside_export.lower.coverage`). ``planned_bytes`` is the sum of the
    memory-planned arenas. Where there are several methods these are over all of them, what they
    share once, and ``methods`` has them one by one.

    ``group_size`` weights share a scale, where the scheme has groups; ``rounding`` says how int4
    values were chosen (``source``: kept as the source had them; ``-asymmetric``: with an offset a
    group beside its scale); ``embedding_bits`` are those of
    the embedding table; ``attention`` says which operators the decoder's attention is made of, and
    ``kv_cache`` what its keys and values are kept as, where that can be chosen (else f32).

    ``quality`` was measured, or ``unmeasured`` says why it was not.
    """

    name: str
    program: FileRef
    method: str
    executorch: str
    torch: str
    torchao: str
    quantisation: Quantisation
    delegates: list[str]
    operators: list[str]
    coverage: float
    planned_bytes: int
    export_command: str
    quality: Quality | None = None
    unmeasured: str | None = None
    external_data: list[FileRef] = field(default_factory=list)
    methods: list[MethodFacts] | None = None
    group_size: int | None = None
    rounding: Rounding | None = None
    embedding_bits: EmbeddingBits | None = None
    attention: Attention | None = None
    kv_cache: KvCache | None = None

    def __post_init__(self) -> None:
        _check_share(self.coverage)
        if self.quality is None and not self.unmeasured:
            raise ValueError("has no field 'quality', and 'unmeasured' does not say why")
        if self.quality is not None and self.unmeasured is not None:
            raise ValueError("has both 'quality' and 'unmeasured'")
        if self.group_size is not None and self.group_size < 1:
            raise ValueError(f"group_size {self.group_size} must be at least 1")
        if self.methods is None:
            return
        names = [m.name for m in self.methods]
        if len(names) < 2 or len(set(names)) < len(names):
            raise ValueError(f"methods are {names}; give two or more, each once, or leave them out")
        if self.method not in names:
            raise ValueError(f"method {self.method!r} is not among the methods {names}")

    @property
    def prefill_and_decode(self) -> list[str]:
        """The methods for several tokens and for single ones: `PREFILL`, `DECODE`, or one."""
        return prefill_and_decode(self.method, self.methods)

    def files(self) -> Iterator[FileRef]:
        """Give the program and its data files."""
        yield self.program
        yield from self.external_data

    @property
    def bytes(self) -> int:
        """Of the program and its data files."""
        return sum(file.bytes for file in self.files())


def prefill_and_decode(method: str, methods: Sequence[MethodFacts] | None) -> list[str]:
    """Give `PREFILL` and `DECODE` if they are among ``methods``, else ``method`` alone."""
    both = [PREFILL, DECODE]
    return both if {m.name for m in methods or ()}.issuperset(both) else [method]


def _check_share(coverage: float) -> None:
    if not 0.0 <= coverage <= 1.0:
        raise ValueError(f"coverage {coverage} must be 0 to 1")
