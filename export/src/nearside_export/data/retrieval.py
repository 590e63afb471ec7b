"""Documents with similarities that people judged: the Lee corpus, from the PyPI package gensim.

50 short news texts, and the mean judgement of each pair, 0..1 (Lee, Pincombe and Welsh, 2005). They
are read as files: gensim is not imported.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nearside_export.errors import SourceError

_PACKAGE = "gensim"
_DOCUMENTS = "lee.cor"
_BACKGROUND = "lee_background.cor"
_JUDGEMENTS = "similarities0-1.txt"
COUNT = 50


def documents() -> list[str]:
    """Texts, in the order of `judgements`."""
    # No text of it is beyond Latin-1, and some are not UTF-8.
    texts = _file(_DOCUMENTS).read_text(encoding="latin-1").removesuffix("\n").split("\n")
    if len(texts) != COUNT or not all(t.strip() for t in texts):
        raise _damaged(_DOCUMENTS, f"{len(texts)} lines, not {COUNT} texts")
    return texts


def background() -> list[str]:
    """300 other news texts of the same years, without judgements."""
    return _file(_BACKGROUND).read_text(encoding="latin-1").splitlines()


def judgements() -> NDArray[np.float64]:
    """Similarity of each pair f64 ``[50, 50]``, symmetric, 1 on the diagonal."""
    try:
        upper = np.loadtxt(_file(_JUDGEMENTS), dtype=np.float64)
    except ValueError as error:
        raise _damaged(_JUDGEMENTS, str(error)) from error
    if upper.shape != (COUNT, COUNT) or not ((upper >= 0.0) & (upper <= 1.0)).all():
        raise _damaged(_JUDGEMENTS, f"it holds {upper.shape} numbers")
    # The file has the upper triangle only.
    upper = np.triu(upper, 1)
    return upper + upper.T + np.eye(COUNT)


def _file(name: str) -> Path:
    spec = find_spec(_PACKAGE)
    places = spec.submodule_search_locations if spec else None
    path = Path(next(iter(places), ""), "test", "test_data", name) if places else None
    if path is None or not path.is_file():
        raise SourceError(
            f"{name} of the Lee corpus is missing, which embeddings are measured on: "
            "pip install --no-deps gensim==4.4.0"
        )
    return path


def _damaged(name: str, found: str) -> SourceError:
    return SourceError(f"gensim's {name} is not the one that was expected: {found}. Reinstall it")
