"""A local Hugging Face folder: configuration, safetensors, tokenizer. Nothing is downloaded."""

from __future__ import annotations

import re
from pathlib import Path

from nearside_export.errors import SourceError
from nearside_export.sources import tokenizer as tokenizers
from nearside_export.sources.fields import Fields, read_object
from nearside_export.sources.model import ModelSource, Tokenizer
from nearside_export.sources.safetensors import SafeTensors

CONFIG = "config.json"
TOKENIZER = "tokenizer.json"


def open_folder(folder: Path) -> ModelSource:
    """Open a model folder; weights are read later, one tensor at a time.

    `SourceError` names the file and field that is missing or malformed.
    """
    if not folder.is_dir():
        raise SourceError(
            f"{folder} is not a folder. Give a local Hugging Face folder (with config.json and "
            "model.safetensors) or a .gguf file; nothing is downloaded"
        )
    config = Fields.read(folder / CONFIG)
    return ModelSource(
        name=folder.resolve().name,
        origin=f"Hugging Face folder {folder.resolve().name}",
        licence=licence(folder),
        config=config,
        tensors=SafeTensors.of_folder(folder),
        tokenizer=read_tokenizer(folder, config),
    )


def read_tokenizer(folder: Path, config: Fields) -> Tokenizer:
    """Read the tokenizer of a model folder whose ``config.json`` is ``config``."""
    path = folder / TOKENIZER
    if not path.exists():
        made = ""
        if (folder / "tokenizer.model").exists() or (folder / "vocab.json").exists():
            made = (
                ". Make it from the files that are there, with transformers: "
                "AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER)"
            )
        raise SourceError(f"{path} is missing{made or '. Copy the whole model folder'}")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"cannot read {path}: {error}") from error
    settings = _optional(folder / "tokenizer_config.json")
    generation = _optional(folder / "generation_config.json")
    inner = config.child("text_config", config)
    eos: list[int | str] = [
        i for source in (generation, config, inner) for i in source.ids("eos_token_id")
    ]
    if (token := _token(settings, "eos_token")) is not None:
        eos.append(token)
    first = [i for source in (generation, config, inner) for i in source.ids("bos_token_id")]
    bos: int | str | None = _token(settings, "bos_token")
    if bos is None and first:
        bos = first[0]
    return tokenizers.assemble(
        text,
        TOKENIZER,
        inner.integer("vocab_size", None) or config.integer("vocab_size", 2**31),
        bos=bos,
        eos=eos,
        add_bos=settings.boolean("add_bos_token", False),
        chat_template=_chat_template(folder, settings),
        defaults=tokenizers.sampling_defaults(generation),
    )


def licence(folder: Path) -> str | None:
    """Licence that the model card's front matter states, such as ``apache-2.0``."""
    try:
        card = (folder / "README.md").read_text(encoding="utf-8", errors="replace")[:65536]
    except OSError:
        return None
    front = re.match(r"\ufeff?---\s*\n(.*?)\n---\s*(\n|$)", card, re.DOTALL)
    if front is None:
        return None
    stated = dict(re.findall(r"^(license|license_name):[ \t]*([^\s#]+)", front[1], re.MULTILINE))
    name = stated.get("license", "").strip("\"'")
    if name == "other":
        name = stated.get("license_name", "").strip("\"'")
    return name or None


def _optional(path: Path) -> Fields:
    if not path.exists():
        return Fields({}, path.name)
    return Fields(read_object(path), path.name)


def _token(settings: Fields, field: str) -> str | None:
    """Read a token: a string, or an object with its ``content``."""
    if isinstance(settings.raw.get(field), dict):
        return settings.child(field).text("content")
    return settings.text(field, None)


def _chat_template(folder: Path, settings: Fields) -> str | None:
    path = folder / "chat_template.jinja"
    if path.exists():
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise SourceError(f"cannot read {path}: {error}") from error
    older = folder / "chat_template.json"
    if older.exists():
        return Fields.read(older).text("chat_template")
    named = settings.raw.get("chat_template")
    if not isinstance(named, list):
        return settings.text("chat_template", None)
    for entry in named:
        if isinstance(entry, dict) and entry.get("name") == "default":
            return Fields(entry, settings.file, "chat_template.").text("template")
    raise SourceError(
        f"{settings.name('chat_template')} is a list without one named 'default'. Put the template "
        "to use into chat_template.jinja"
    )
