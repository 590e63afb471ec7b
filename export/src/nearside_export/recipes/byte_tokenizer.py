"""A small byte-level tokenizer: 256 bytes, a few merges, the family's special tokens."""

from __future__ import annotations

from pathlib import Path

MERGES = [
    ("t", "h"),
    ("th", "e"),
    ("i", "n"),
    ("e", "r"),
    ("a", "n"),
    ("Ġ", "the"),
    ("Ġ", "a"),
    ("an", "d"),
    ("Ġ", "and"),
    ("in", "g"),
]


BYTES = 256


def write(
    folder: Path, special: list[str], bos: str | None = None, last: list[str] | None = None
) -> dict[str, int]:
    """Write ``tokenizer.json``; ``special`` get the ids 0, 1, …, ``last`` the highest ones.

    Return the ids of both.

    Where ``bos`` is given the tokenizer puts it before every text.
    """
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    pieces = [*special, *letters, *(a + b for a, b in MERGES), *(last or [])]
    special = [*special, *(last or [])]
    vocabulary = {piece: i for i, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=MERGES))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(t, normalized=False, special=True) for t in special])
    if bos is not None:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{bos} $A", pair=f"{bos} $A $B", special_tokens=[(bos, vocabulary[bos])]
        )
    (folder / "tokenizer.json").write_text(tokenizer.to_str(pretty=True) + "\n", encoding="utf-8")
    return {token: vocabulary[token] for token in special}
