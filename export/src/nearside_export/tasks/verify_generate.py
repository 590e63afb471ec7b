"""Measure a ``generate`` package again: against eager fp32, made anew from the weights."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from nearside_export.architectures.decoder import families, weights
from nearside_export.architectures.decoder.model import Decoder
from nearside_export.errors import PackageError
from nearside_export.lower.program import LoweredProgram
from nearside_export.manifest import (
    Describe,
    Generate,
    GenerateQuality,
    Manifest,
    Variant,
)
from nearside_export.progress import say
from nearside_export.sources.language import open_source
from nearside_export.sources.model import Tokenizer
from nearside_export.tasks import generate_quality
from nearside_export.tasks.tolerance import Comparison, Tolerance, measured_variants

TOLERANCES = {
    "tokens": Tolerance(),
    "perplexity": Tolerance(relative=0.005),
    "perplexity_fp32": Tolerance(relative=0.0005),
    "next_token_agreement": Tolerance(absolute=0.01),
    "kl_divergence": Tolerance(relative=0.05, absolute=1e-6),
    # One logit of all: what a CPU rounds otherwise shows here first.
    "logit_max_error": Tolerance(relative=0.25, absolute=1e-4),
    "prompts": Tolerance(),
    "looping": Tolerance(absolute=1),
}
"""int8 kernels of different CPUs may round a value differently."""


def verify(
    package: Path, manifest: Manifest, task: Generate, folder: Path | None
) -> Iterator[Comparison[GenerateQuality]]:
    """Measure every variant of ``package``, whose files have been checked, again.

    ``folder`` is the Hugging Face folder, or the GGUF file, that it was made from. `PackageError`
    when it is not given, or when tokenizer or facts differ from the model's.
    """
    source = open_source(
        needed_source(package, manifest, folder, "Hugging Face folder or GGUF file")
    )
    config = families.read(source.config)
    check_tokenizer(package, task, source.tokenizer)
    facts = task.generation
    found = (facts.vocab_size, facts.sliding_window)
    if found != (config.vocab_size, config.sliding_window):
        raise PackageError(
            f"{package}: vocab_size and sliding_window are {found}, the model has "
            f"{(config.vocab_size, config.sliding_window)}: --source is another model"
        )

    @cache
    def reference(attention: str) -> Decoder:
        return weights.load(config, source.tensors, facts.context_length, attention)

    for variant, claimed in measured_variants(manifest, GenerateQuality):
        say(f"{package.name} {variant.name}: measuring quality")
        # As in the export: fp32 beside itself, what is quantised beside plain attention.
        attention = variant.attention if variant.quantisation == "none" else None
        measured = generate_quality.measure(
            reference(attention or "plain"),
            program(package, variant),
            source.tokenizer,
            facts.max_prefill_tokens,
            claimed.gate,
            [package / data.path for data in variant.external_data],
        )
        yield Comparison(variant.name, claimed, measured, TOLERANCES)


def needed_source(package: Path, manifest: Manifest, source: Path | None, kind: str) -> Path:
    """Return ``source``; `PackageError` says what to give where there is none."""
    if source is None:
        command = manifest.variants[0].export_command
        raise PackageError(
            f"{package} was measured against the eager fp32 model, whose weights it does not hold: "
            f"give the {kind} that it was made from with --source (the manifest says "
            f"{manifest.source!r}, and `{command}`)"
        )
    return source


def check_tokenizer(package: Path, task: Generate | Describe, tokenizer: Tokenizer) -> None:
    """`PackageError` when the package's tokenizer or its facts are not the source's."""
    if (package / task.tokenizer.path).read_text(encoding="utf-8") != tokenizer.json:
        raise PackageError(f"{package}: {task.tokenizer.path} differs from the source's tokenizer")
    facts = task.generation
    stated = (facts.bos_id, tuple(facts.eos_ids), facts.add_bos)
    if stated != (tokenizer.bos_id, tokenizer.eos_ids, tokenizer.add_bos):
        raise PackageError(
            f"{package}: bos_id, eos_ids and add_bos are {stated}, the source has "
            f"{(tokenizer.bos_id, tokenizer.eos_ids, tokenizer.add_bos)}"
        )


def program(package: Path, variant: Variant) -> LoweredProgram:
    """Read a variant as an export had it before it was written; its data files stay on disk."""
    return LoweredProgram(
        pte=(package / variant.program.path).read_bytes(),
        method=variant.method,
        delegates=variant.delegates,
        operators=variant.operators,
        coverage=variant.coverage,
        planned_bytes=variant.planned_bytes,
        methods=variant.methods or [],
    )
