"""Write what `transformers` makes of lines: `tokens.py FILE OUT [--seed N] [--lines N]`.

FILE is a tokenizer.json, a GGUF file, a SentencePiece model or Llama 3's tiktoken file. OUT becomes
a folder with the file and `lines.jsonl`.

For a GGUF file, `transformers` cuts words as GPT-2 does whatever `tokenizer.ggml.pre` says: give
the model's own tokenizer.json as `--reference` where it says otherwise.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import shutil
from pathlib import Path
from typing import Any

from lines import lines
from transformers import AutoTokenizer, PreTrainedTokenizerFast


def main() -> None:
    """Write the folder that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--reference", type=Path, help="a tokenizer.json for a GGUF file")
    args = parser.parse_args()
    tokenizer = load(args.reference or args.file)
    added = tokenizer.get_added_vocab()
    special = sorted(added, key=added.get)
    special = special[:12] + special[-4:]
    args.out.mkdir(parents=True, exist_ok=True)
    place = args.out / "tokenizer"
    place.unlink(missing_ok=True)
    try:
        os.link(args.file, place)
    except OSError:
        shutil.copyfile(args.file, place)
    with (args.out / "lines.jsonl").open("w") as out:
        for text in lines(args.seed, args.lines, special):
            out.write(json.dumps(reference(tokenizer, text)) + "\n")


def reference(tokenizer: Any, text: str) -> dict[str, Any]:  # noqa: ANN401
    """Give the tokens of a text with and without special ones, and the text of the former."""
    parsed = tokenizer.encode(text)
    plain = tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True)
    as_is = {"clean_up_tokenization_spaces": False}
    decoded = tokenizer.decode(parsed, skip_special_tokens=False, **as_is)
    shown = tokenizer.decode(parsed, skip_special_tokens=True, **as_is)
    return {"text": text, "parsed": parsed, "plain": plain, "decoded": decoded, "shown": shown}


def load(file: Path) -> Any:  # noqa: ANN401
    """Load the tokenizer of a file, by its content."""
    head = file.read_bytes()[:4]
    if head == b"GGUF":
        return AutoTokenizer.from_pretrained(str(file.parent), gguf_file=file.name)
    if head[:1] == b"{":
        return PreTrainedTokenizerFast(tokenizer_file=str(file))
    if head[:1] == b"\n":
        return sentencepiece(file)
    return llama3(file)


def llama3(file: Path) -> PreTrainedTokenizerFast:
    """Load Llama 3's tiktoken file, as the conversion in `transformers` (models/llama) does."""
    from tokenizers import processors
    from transformers.convert_slow_tokenizer import TikTokenConverter

    class Converter(TikTokenConverter):
        # Without the package tiktoken.
        @staticmethod
        def load_tiktoken_bpe(tiktoken_url: str) -> dict[bytes, int]:
            lines = Path(tiktoken_url).read_bytes().splitlines()
            entries = (line.split() for line in lines if line)
            return {base64.b64decode(token): int(rank) for token, rank in entries}

    named = ["begin_of_text", "end_of_text", "reserved_special_token_0"]
    named += ["reserved_special_token_1", "finetune_right_pad_id", "step_id"]
    named += ["start_header_id", "end_header_id", "eom_id", "eot_id"]
    named += ["python_tag", "image"] + [f"reserved_special_token_{n}" for n in range(2, 246)]
    special = [f"<|{name}|>" for name in named]
    inner = Converter(str(file), extra_special_tokens=special).converted()
    bos = ("<|begin_of_text|>", inner.token_to_id("<|begin_of_text|>"))
    inner.post_processor = processors.TemplateProcessing(
        single=f"{bos[0]} $A", special_tokens=[bos]
    )
    return PreTrainedTokenizerFast(tokenizer_object=inner)


def sentencepiece(file: Path) -> PreTrainedTokenizerFast:
    """Load a SentencePiece model by its own settings."""
    from tokenizers import AddedToken
    from transformers.convert_slow_tokenizer import SpmConverter, import_protobuf

    proto = import_protobuf().ModelProto()
    proto.ParseFromString(file.read_bytes())
    if proto.trainer_spec.model_type == 1:
        vocabulary = [(piece.piece, piece.score) for piece in proto.pieces]
    else:
        vocabulary = {piece.piece: id for id, piece in enumerate(proto.pieces)}
    inner = SpmConverter.build_tokenizer_from_spm_proto(proto, vocabulary)
    for piece in proto.pieces:
        if piece.type in (3, 4):
            added = AddedToken(piece.piece, normalized=False, special=piece.type == 3)
            (inner.add_special_tokens if piece.type == 3 else inner.add_tokens)([added])
    return PreTrainedTokenizerFast(tokenizer_object=inner)


if __name__ == "__main__":
    main()
