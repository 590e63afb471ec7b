"""Write a tiny tokenizer of each kind: `tiny.py FOLDER`. Needs the package `protobuf` besides."""

import base64
import sys
from pathlib import Path

import gguf
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers.convert_slow_tokenizer import bytes_to_unicode
from transformers.utils import sentencepiece_model_pb2_new as spm

MERGES = ["h e", "l l", "he ll", "hell o", "Ġ w", "o r"]
PIECES = [("<unk>", 0, 2), ("<s>", 0, 3), ("</s>", 0, 3), ("<sep>", 0, 4)]
PIECES += [(f"<0x{byte:02X}>", 0, 6) for byte in range(256)]
PIECES += [("ll", -1, 1), ("he", -2, 1), ("hell", -3, 1), ("hello", -4, 1)]
PIECES += [("▁hello", -5, 1), ("▁w", -6, 1)]
PIECES += [(letter, -10 - i, 1) for i, letter in enumerate("▁helowrd")]


def main() -> None:
    """Write them into the folder that the command line names."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    letters = list(bytes_to_unicode().values())
    tokens = letters + [merge.replace(" ", "") for merge in MERGES]
    vocabulary = {token: at for at, token in enumerate(tokens)}
    inner = Tokenizer(models.BPE(vocabulary, [tuple(m.split()) for m in MERGES]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    inner.add_special_tokens(["<|end|>"])
    inner.save(str(folder / "tokenizer.json"), pretty=False)

    back = {letter: byte for byte, letter in bytes_to_unicode().items()}
    spelt = [base64.b64encode(bytes(back[c] for c in token)).decode() for token in tokens]
    lines = [f"{token} {rank}\n" for rank, token in enumerate(spelt)]
    (folder / "tiktoken.model").write_text("".join(lines))

    writer = gguf.GGUFWriter(str(folder / "tiny.gguf"), "llama")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list([*tokens, "<|end|>"])
    writer.add_token_types([1] * len(tokens) + [3])
    writer.add_token_merges(MERGES)
    writer.add_eos_token_id(len(tokens))
    writer.add_chat_template("{{ messages[0].content }}")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()

    for name, kind in (("unigram", 1), ("bpe", 2)):
        proto = spm.ModelProto()
        for text, score, piece in PIECES:
            proto.pieces.add(piece=text, score=score, type=piece)
        proto.trainer_spec.model_type = kind
        proto.trainer_spec.byte_fallback = True
        (folder / f"{name}.model").write_bytes(proto.SerializeToString())


if __name__ == "__main__":
    main()
