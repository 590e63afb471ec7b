"""A local sentence-transformers folder: an encoder with pooling, and how long a text may be."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from nearside_export.errors import SourceError, UnsupportedError
from nearside_export.sources import huggingface
from nearside_export.sources.fields import Fields, read_json
from nearside_export.sources.model import Tensors
from nearside_export.sources.safetensors import SafeTensors

MODULES = "modules.json"
LENGTH = "sentence_bert_config.json"

_POOLINGS = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_lasttoken": "last",
}
_MODES = {"mean": "mean", "cls": "cls", "lasttoken": "last"}
"""As newer versions write it."""


@dataclass(frozen=True)
class EmbedderSource:
    """``tokenizer`` is a whole ``tokenizer.json`` that neither pads nor cuts.

    ``max_tokens`` counts special tokens; null where the folder does not say.
    """

    name: str
    origin: str
    licence: str | None
    config: Fields
    tensors: Tensors
    tokenizer: str
    pooling: str
    normalize: bool
    max_tokens: int | None


def open_folder(folder: Path) -> EmbedderSource:
    """Open a folder; weights are read later.

    `SourceError` names the file and field that is missing or malformed, `UnsupportedError` what
    can't be exported.
    """
    if not folder.is_dir():
        raise SourceError(
            f"{folder} is not a folder. Give a local sentence-transformers folder (with "
            f"config.json, {MODULES} and model.safetensors); nothing is downloaded"
        )
    encoder, pooling, normalize = _modules(folder)
    place = folder / encoder
    config = Fields.read(place / huggingface.CONFIG)
    return EmbedderSource(
        name=folder.resolve().name,
        origin=f"Hugging Face folder {folder.resolve().name}",
        licence=huggingface.licence(folder),
        config=config,
        tensors=SafeTensors.of_folder(place),
        tokenizer=_tokenizer(place, config.integer("vocab_size")),
        pooling=_pooling(folder / pooling / "config.json", config),
        normalize=normalize,
        max_tokens=_max_tokens(place),
    )


def _modules(folder: Path) -> tuple[str, str, bool]:
    """Folders of the encoder and of the pooling, and whether the embedding is normalised."""
    path = folder / MODULES
    modules = [Fields(m, f"{MODULES}: [{i}]") for i, m in enumerate(_read_list(path))]
    kinds = [module.text("type").rpartition(".")[2] for module in modules]
    known = {"Transformer", "Pooling", "Normalize"}
    if strange := [kind for kind in kinds if kind not in known]:
        raise UnsupportedError(
            f"{path} has a module {strange[0]!r}, which can't be exported; only Transformer, "
            "Pooling and Normalize can"
        )
    if kinds not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
        raise UnsupportedError(
            f"{path} has the modules {', '.join(kinds) or 'none'}; a Transformer, a Pooling and "
            "optionally a Normalize can be exported, in this order"
        )
    return _inside(modules[0]), _inside(modules[1]), len(kinds) == 3


def _inside(module: Fields) -> str:
    path = module.text("path")
    if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts or "\0" in path:
        raise SourceError(f"{module.name('path')} is {path!r}, which leaves the model's folder")
    return path


def _read_list(path: Path) -> list[dict[str, Any]]:
    raw = read_json(
        path,
        "Without it pooling and normalising are not known: copy the whole sentence-transformers "
        "folder",
    )
    if not isinstance(raw, list) or not all(isinstance(m, dict) for m in raw):
        raise SourceError(f"{path} must hold a list of objects. Fetch it again")
    return raw


def _pooling(path: Path, config: Fields) -> str:
    pooling = Fields.read(path)
    width = pooling.integer("word_embedding_dimension", None)
    width = pooling.integer("embedding_dimension", width)
    hidden = config.integer("hidden_size", None) or config.integer("dim", None)
    if None not in (width, hidden) and width != hidden:
        raise SourceError(
            f"{path} pools {width} dimensions, the encoder gives {hidden}: they belong to "
            "different models"
        )
    chosen = [
        name for name in pooling if name.startswith("pooling_mode_") and pooling.boolean(name)
    ]
    if "pooling_mode" in pooling:
        chosen.append(pooling.text("pooling_mode"))
    known = _POOLINGS | _MODES
    if len(chosen) != 1 or chosen[0] not in known:
        raise UnsupportedError(
            f"{path} asks for the pooling {' and '.join(chosen) or 'of none of its modes'}; one of "
            "mean tokens, CLS token and last token can be exported"
        )
    return known[chosen[0]]


def _max_tokens(folder: Path) -> int | None:
    if not (folder / LENGTH).exists():
        return None
    return Fields.read(folder / LENGTH).integer("max_seq_length", None)


def _tokenizer(folder: Path, vocab_size: int) -> str:
    """Read ``tokenizer.json`` without its padding and truncation.

    The program has no mask, so that padding would change the embedding; where texts are cut, the
    manifest says.
    """
    from tokenizers import Tokenizer

    path = folder / huggingface.TOKENIZER
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SourceError(
            f"{path} is missing. Make it from the files that are there, with transformers: "
            "AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER)"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"cannot read {path}: {error}") from error
    try:
        tokenizer = Tokenizer.from_str(text)
    except Exception as error:  # the library raises nothing narrower
        raise SourceError(f"{path} can't be loaded: {error}. Fetch it again") from error
    highest = max(tokenizer.get_vocab(with_added_tokens=True).values(), default=-1)
    if not 0 <= highest < vocab_size:
        raise SourceError(
            f"{path} gives token ids up to {highest}, but the model has {vocab_size} (vocab_size): "
            "tokenizer and model belong to different models"
        )
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer.to_str()
