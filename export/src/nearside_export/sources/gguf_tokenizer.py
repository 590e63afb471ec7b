"""The tokenizer inside a GGUF file as a ``tokenizer.json``.

A GGUF file holds the vocabulary and, for byte-level BPE, the merges; how text is cut up before that
is only named (``tokenizer.ggml.pre``), after what llama.cpp does (llama-vocab.cpp).
"""

from __future__ import annotations

from typing import Any

from nearside_export.errors import SourceError, UnsupportedError
from nearside_export.sources import tokenizer as tokenizers
from nearside_export.sources.fields import Fields
from nearside_export.sources.model import Tokenizer

CONTROL, USER_DEFINED = 3, 4
"""``tokenizer.ggml.token_type``: special tokens, and plain ones that are never cut."""

LLAMA3_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN2_SPLIT = LLAMA3_SPLIT.replace(r"\p{N}{1,3}", r"\p{N}")

GPT2 = ("gpt-2", "gpt2")
DIGITS = ("smollm", "starcoder", "refact", "command-r")
"""GPT-2's cuts, with every digit on its own."""
LLAMA3 = ("llama-bpe", "llama3", "llama-v3")
QWEN2 = ("qwen2", "deepseek-r1-qwen")
SPACE = "\u2581"


def read_tokenizer(metadata: Fields, vocab_size: int, architecture: str) -> Tokenizer:
    """Convert the tokenizer of a GGUF file's ``metadata``.

    `SourceError` for what is missing or does not fit together, `UnsupportedError` for a kind that
    is not known.
    """
    kind = metadata.text("tokenizer.ggml.model")
    tokens = metadata.texts("tokenizer.ggml.tokens")
    if len(set(tokens)) != len(tokens):
        raise SourceError(f"{metadata.name('tokenizer.ggml.tokens')} has a token twice")
    pre = metadata.text("tokenizer.ggml.pre", "") if kind == "gpt2" else ""
    if kind == "gpt2":
        built = _byte_level(metadata, tokens, pre)
    elif kind == "llama":
        built = _sentencepiece(metadata, tokens, gemma=architecture.startswith("gemma"))
    else:
        raise UnsupportedError(
            f"{metadata.name('tokenizer.ggml.model')} is {kind!r}, which can't be converted; "
            "known: gpt2 (byte-level BPE), llama (SentencePiece)"
        )
    _add_special(built, metadata, tokens)
    bos = metadata.integer("tokenizer.ggml.bos_token_id", None, minimum=0)
    usual = kind == "llama" or pre in LLAMA3
    add_bos = metadata.boolean("tokenizer.ggml.add_bos_token", usual) and bos is not None
    if add_bos:
        _put_bos_first(built, metadata, tokens, bos)
    eos: list[int | str] = []
    for name in ("eos_token_id", "eot_token_id", "eom_token_id"):
        eos += metadata.ids(f"tokenizer.ggml.{name}")
    return tokenizers.assemble(
        built.to_str(),
        f"{metadata.file} (tokenizer)",
        vocab_size,
        bos=bos,
        eos=eos,
        add_bos=add_bos,
        chat_template=metadata.text("tokenizer.chat_template", None),
        defaults={},
    )


def _byte_level(metadata: Fields, tokens: list[str], pre: str) -> Any:  # noqa: ANN401
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

    vocabulary = {token: i for i, token in enumerate(tokens)}
    merges = []
    for merge in metadata.texts("tokenizer.ggml.merges"):
        left, space, right = merge.partition(" ")
        if not space or left not in vocabulary or right not in vocabulary:
            raise SourceError(
                f"{metadata.name('tokenizer.ggml.merges')} has {merge!r}, which are not two tokens "
                "of the vocabulary. Fetch the file again"
            )
        merges.append((left, right))
    built = Tokenizer(models.BPE(vocabulary, merges, ignore_merges=pre in LLAMA3))
    built.decoder = decoders.ByteLevel()
    if pre in GPT2 or pre in DIGITS:
        cut = pre_tokenizers.ByteLevel(add_prefix_space=False)
        if pre in DIGITS:
            cut = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), cut])
        built.pre_tokenizer = cut
        return built
    if pre not in LLAMA3 and pre not in QWEN2:
        raise UnsupportedError(
            f"{metadata.name('tokenizer.ggml.pre')} is {pre!r}, which can't be converted; known: "
            f"{', '.join((*GPT2, *DIGITS, *LLAMA3, *QWEN2))}. Give the Hugging Face folder"
        )
    if pre in QWEN2:
        built.normalizer = normalizers.NFC()
    split = Regex(LLAMA3_SPLIT if pre in LLAMA3 else QWEN2_SPLIT)
    built.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(split, behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    return built


def _sentencepiece(metadata: Fields, tokens: list[str], *, gemma: bool) -> Any:  # noqa: ANN401
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

    if gemma:
        # Runs of spaces are stored as they are, but looked up as the letter that stands for one.
        tokens = [SPACE * len(t) if t and not t.strip(" ") else t for t in tokens]
        # Gemma's scores don't follow the order of its merges; the vocabulary does.
        ranks = {token: -float(i) for i, token in enumerate(tokens)}
    else:
        scores = metadata.numbers("tokenizer.ggml.scores")
        if len(scores) != len(tokens):
            raise SourceError(
                f"{metadata.name('tokenizer.ggml.scores')} has {len(scores)} entries for "
                f"{len(tokens)} tokens. Fetch the file again"
            )
        ranks = dict(zip(tokens, scores, strict=True))
    vocabulary = {token: i for i, token in enumerate(tokens)}
    unknown = metadata.integer("tokenizer.ggml.unknown_token_id", 0, minimum=0)
    if unknown >= len(tokens):
        raise SourceError(f"{metadata.name('tokenizer.ggml.unknown_token_id')} is {unknown}")
    model = models.BPE(
        vocabulary,
        _merges(vocabulary, ranks),
        unk_token=tokens[unknown],
        fuse_unk=True,
        byte_fallback=True,
    )
    built = Tokenizer(model)
    decoder = [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse()]
    if gemma:
        built.normalizer = normalizers.Replace(" ", SPACE)
        built.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    else:
        steps = [normalizers.Replace(" ", SPACE)]
        if metadata.boolean("tokenizer.ggml.add_space_prefix", True):
            steps.insert(0, normalizers.Prepend(SPACE))
            decoder.append(decoders.Strip(" ", 1, 0))
        built.normalizer = normalizers.Sequence(steps)
    built.decoder = decoders.Sequence(decoder)
    return built


def _merges(vocabulary: dict[str, int], ranks: dict[str, float]) -> list[tuple[str, str]]:
    """Every way to make a token of two others, best first (as in transformers' converters)."""
    found = []
    for token, rank in ranks.items():
        pairs = [(token[:i], token[i:]) for i in range(1, len(token))]
        pairs = [(a, b) for a, b in pairs if a in vocabulary and b in vocabulary]
        pairs.sort(key=lambda pair: (vocabulary[pair[0]], vocabulary[pair[1]]))
        found += [(rank, a, b) for a, b in pairs]
    found.sort(key=lambda entry: (entry[0], len(entry[1]), len(entry[2])), reverse=True)
    return [(a, b) for _, a, b in found]


def _add_special(built: Any, metadata: Fields, tokens: list[str]) -> None:  # noqa: ANN401
    from tokenizers import AddedToken

    kinds = metadata.numbers("tokenizer.ggml.token_type", None)
    if kinds is None:
        return
    if len(kinds) != len(tokens):
        raise SourceError(
            f"{metadata.name('tokenizer.ggml.token_type')} has {len(kinds)} entries for "
            f"{len(tokens)} tokens. Fetch the file again"
        )
    marked = list(zip(tokens, kinds, strict=True))
    known = [t for t, kind in marked if kind == CONTROL]
    built.add_special_tokens([AddedToken(t, normalized=False, special=True) for t in known])
    plain = [t for t, kind in marked if kind == USER_DEFINED and built.token_to_id(t) is not None]
    built.add_tokens([AddedToken(t, normalized=False, special=False) for t in plain])


def _put_bos_first(
    built: Any,  # noqa: ANN401
    metadata: Fields,
    tokens: list[str],
    bos: int,
) -> None:
    from tokenizers import processors

    if bos >= len(tokens):
        raise SourceError(
            f"{metadata.name('tokenizer.ggml.bos_token_id')} is {bos}, but there are "
            f"{len(tokens)} tokens. Fetch the file again"
        )
    token = tokens[bos]
    built.post_processor = processors.TemplateProcessing(
        single=[token, "$A"], pair=[token, "$A", "$B"], special_tokens=[(token, bos)]
    )
