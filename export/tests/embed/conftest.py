"""Tiny encoders with random weights, as sentence-transformers folders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from nearside_export.data import retrieval

VOCABULARY = 400
WIDTH = 64
SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": WIDTH,
    "intermediate_size": 96,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "max_position_embeddings": 66,
}
FAMILIES = {
    "bert": lambda: transformers.BertModel(transformers.BertConfig(**SIZES)),
    "roberta": lambda: transformers.RobertaModel(
        transformers.RobertaConfig(**SIZES, type_vocab_size=1, pad_token_id=1)
    ),
    "xlm-roberta": lambda: transformers.XLMRobertaModel(
        transformers.XLMRobertaConfig(**SIZES, type_vocab_size=1, pad_token_id=1)
    ),
    "mpnet": lambda: transformers.MPNetModel(transformers.MPNetConfig(**SIZES)),
    "distilbert": lambda: transformers.DistilBertModel(
        transformers.DistilBertConfig(
            vocab_size=VOCABULARY,
            dim=WIDTH,
            hidden_dim=96,
            n_heads=4,
            n_layers=2,
            max_position_embeddings=66,
        )
    ),
}


def transformer(family: str) -> torch.nn.Module:
    """A model of transformers with weights that count: none at zero, norms not at one."""
    torch.manual_seed(7)
    model = FAMILIES[family]().eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.normal_(1.0 if "orm.weight" in name else 0.0, 0.2)
    return model


def tokenizer() -> Tokenizer:
    """Words of the evaluation texts, between two special tokens, padded and cut to 8."""
    words = sorted({w for text in retrieval.documents() for w in text.lower().split()})
    # Every third, so that others are unknown.
    kept = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words[::3][: VOCABULARY - 4]]
    made = Tokenizer(models.WordLevel({w: i for i, w in enumerate(kept)}, unk_token="[UNK]"))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    made.enable_truncation(8)
    made.enable_padding(length=8)
    return made


def write_json(path: Path, content: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def write_folder(folder: Path, family: str, pooling: str = "mean_tokens") -> Path:
    """Write a whole sentence-transformers folder."""
    transformer(family).save_pretrained(folder)
    tokenizer().save(str(folder / "tokenizer.json"))
    kinds = (("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize"))
    modules = [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for i, (path, kind) in enumerate(kinds)
    ]
    write_json(folder / "modules.json", modules)
    modes = dict.fromkeys(("cls_token", "mean_tokens", "max_tokens", "lasttoken"), False)
    modes[pooling] = True
    config = {f"pooling_mode_{mode}": chosen for mode, chosen in modes.items()}
    write_json(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": WIDTH, **config})
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 48})
    (folder / "README.md").write_text("---\nlicense: mit\n---\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def bert_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT; not to be changed."""
    return write_folder(tmp_path_factory.mktemp("bert") / "tiny-bert", "bert")
