"""What packages of language models hold beside their programs: tokenizer, template, facts."""

from __future__ import annotations

from pathlib import Path

from nearside_export.architectures.decoder.cache import sliding_slots
from nearside_export.architectures.decoder.config import DecoderConfig
from nearside_export.manifest import FileRef, GenerationDefaults, GenerationFacts
from nearside_export.package import file_ref
from nearside_export.sources.model import Tokenizer

TOKENIZER = "tokenizer.json"
TEMPLATE = "chat_template.jinja"


def write(folder: Path, tokenizer: Tokenizer) -> tuple[FileRef, FileRef | None]:
    """Write the tokenizer, and the chat template where there is one, into ``folder``."""
    (folder / TOKENIZER).write_text(tokenizer.json, encoding="utf-8")
    template: FileRef | None = None
    if tokenizer.chat_template:
        (folder / TEMPLATE).write_text(tokenizer.chat_template, encoding="utf-8")
        template = file_ref(folder, TEMPLATE)
    return file_ref(folder, TOKENIZER), template


def generation(
    tokenizer: Tokenizer, config: DecoderConfig, context: int, longest: int
) -> GenerationFacts:
    """Say what generating takes: ``context`` positions, ``longest`` tokens a call at most."""
    window = config.sliding_window
    return GenerationFacts(
        context_length=context,
        max_prefill_tokens=longest,
        vocab_size=config.vocab_size,
        bos_id=tokenizer.bos_id,
        eos_ids=list(tokenizer.eos_ids),
        add_bos=tokenizer.add_bos,
        sliding_window=window,
        sliding_slots=sliding_slots(context, window, longest) if window else None,
        defaults=GenerationDefaults(**tokenizer.defaults),
    )
