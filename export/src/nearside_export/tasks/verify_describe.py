"""Measure a ``describe`` package again: against transformers in eager fp32."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nearside_export.architectures.multimodal import families
from nearside_export.errors import PackageError
from nearside_export.manifest import Describe, DescribeQuality, Manifest
from nearside_export.progress import say
from nearside_export.sources import huggingface, image_processor
from nearside_export.sources.fields import Fields
from nearside_export.tasks import describe
from nearside_export.tasks.tolerance import Comparison, Tolerance, measured_variants
from nearside_export.tasks.verify_generate import check_tokenizer, needed_source, program

TOLERANCES = {
    "images": Tolerance(),
    "tokens": Tolerance(),
    "logit_max_error": Tolerance(relative=0.25, absolute=1e-4),
    "embedding_max_error": Tolerance(relative=0.25, absolute=1e-4),
    "next_token_agreement": Tolerance(absolute=0.025),
}
"""f32 kernels of different CPUs sum in another order; one token of 42 may fall on either side."""

QUANTISED = TOLERANCES | {
    "kl_divergence": Tolerance(relative=0.1, absolute=1e-6),
    "next_token_agreement": Tolerance(absolute=0.05),
}
"""int8 kernels of different CPUs may round a value differently, which two tokens may show."""


def verify(
    package: Path, manifest: Manifest, task: Describe, folder: Path | None
) -> Iterator[Comparison[DescribeQuality]]:
    """Measure every variant of ``package``, whose files have been checked, again.

    ``folder`` is the Hugging Face folder that it was made from. `PackageError` when it is not
    given, or when tokenizer, picture or vision facts differ from the model's.
    """
    source = needed_source(package, manifest, folder, "Hugging Face folder")
    config = Fields.read(source / huggingface.CONFIG)
    tokenizer = huggingface.read_tokenizer(source, config)
    check_tokenizer(package, task, tokenizer)
    if task.image != image_processor.read(source):
        raise PackageError(f"{package}: the image spec differs from the model's")
    facts = task.generation
    model = families.loader(config)(source, config, facts.context_length, "plain")
    if model.vision != task.vision:
        raise PackageError(f"{package}: the vision facts differ from the model's: {model.vision}")
    prompts = describe.evaluation_prompts(task.vision, task.image, tokenizer, facts.context_length)
    for variant, claimed in measured_variants(manifest, DescribeQuality):
        say(f"{package.name} {variant.name}: measuring quality")
        measured = describe.measure_quality(
            model,
            program(package, variant),
            [package / data.path for data in variant.external_data],
            prompts,
            facts.max_prefill_tokens,
            claimed.gate,
        )
        tolerances = TOLERANCES if variant.quantisation == "none" else QUANTISED
        yield Comparison(variant.name, claimed, measured, tolerances)
