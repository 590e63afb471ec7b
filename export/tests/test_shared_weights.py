"""Weights that are a constant and a delegate's at once, stored once."""

from __future__ import annotations

from pathlib import Path

import decoder_models as models
import numpy as np
import pytest
import torch

from nearside_export.architectures.decoder import export
from nearside_export.lower import program, xnnpack
from nearside_export.lower.shared_weights import share_weights
from nearside_export.quantise import decoder
from nearside_export.runtime import Array, RunnableMethod, nearside
from nearside_export.runtime.wheel import LoadedMethod

ROWS, WIDTH = 193, 64
SHAPE = {
    "vocab_size": ROWS,
    "hidden_size": WIDTH,
    "intermediate_size": 64,
    "num_attention_heads": 4,
    "num_hidden_layers": 1,
    "tie_word_embeddings": True,
}


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Programs as ExecuTorch wrote them, before anything was shared."""
    programs: list[bytes] = []

    def recorded(pte: bytes) -> bytes:
        programs.append(pte)
        return share_weights(pte)

    monkeypatch.setattr(program, "share_weights", recorded)
    return programs


def answers(method: RunnableMethod) -> list[Array]:
    ids = np.array([[5, ROWS - 1, 0, 77, 78]])
    return [method.run([ids[:, s:e], np.arange(s, e)])[0] for s, e in [(0, 4), (4, 5)]]


def texts() -> decoder.Calibration:
    windows = torch.randint(0, ROWS, (2, 16), generator=torch.Generator().manual_seed(1))
    return decoder.Calibration(windows, windows)


@pytest.mark.parametrize(("variant", "bits"), [("8da4w", 8), ("8da4w", 4), ("int8w", 8)])
def test_a_tied_table_is_stored_once(
    variant: str, bits: int, written: list[bytes], nearside_cli: Path
) -> None:
    model = models.ours(models.llama(**SHAPE))
    decoder.apply(
        model,
        decoder.SCHEMES[variant],
        models.StateDict({}),
        rounding="nearest",
        embedding_bits=bits,
        texts=texts,
    )
    shared = xnnpack.lower_methods({"forward": export.export(model, 8)}).pte
    (plain,) = written
    saved = len(plain) - len(shared)
    # What follows moves by whole pages.
    assert 0 <= ROWS * WIDTH * bits // 8 - saved < 4096
    want = answers(LoadedMethod(plain, "forward"))
    np.testing.assert_array_equal(answers(LoadedMethod(shared, "forward")), want)
    with nearside.Program(plain, cli=nearside_cli) as first:
        want = answers(first.method())
    with nearside.Program(shared, cli=nearside_cli) as second:
        np.testing.assert_array_equal(answers(second.method()), want)
    # There is nothing left to share.
    assert share_weights(shared) == shared


class Heads(torch.nn.Module):
    """Ids to the products of a table's rows with each of ``weights``."""

    def __init__(self, table: torch.Tensor, weights: list[torch.Tensor]) -> None:
        super().__init__()
        self.table = torch.nn.Embedding.from_pretrained(table)
        self.heads = torch.nn.ModuleList(
            torch.nn.Linear(*w.shape[::-1], bias=False) for w in weights
        )
        with torch.no_grad():
            for head, weight in zip(self.heads, weights, strict=True):
                head.weight.copy_(weight)

    def forward(self, ids: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(head(self.table(ids)) for head in self.heads)


@pytest.mark.parametrize("tied", [True, False])
def test_only_what_is_equal_to_the_last_byte_is_shared(tied: bool, written: list[bytes]) -> None:
    table = torch.randn(64, 16, generator=torch.Generator().manual_seed(1))
    nearly = table.clone()
    nearly[-1, -1] += 1
    # Those beside a shared one move, and stay what they are; small ones are left alone.
    weights = [nearly, table if tied else table + 1, table[:8], -table]
    model = Heads(table, weights).eval()
    ids = torch.tensor([0, 63, 3])
    shared = xnnpack.lower(torch.export.export(model, (ids,))).pte
    (plain,) = written
    assert len(plain) - len(shared) == (table.nbytes if tied else 0)
    assert tied or shared == plain
    want = LoadedMethod(plain, "forward").run([ids.numpy()])
    for got, wanted in zip(LoadedMethod(shared, "forward").run([ids.numpy()]), want, strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_what_is_no_program_with_segments_is_given_back() -> None:
    for file in (b"", b"\0" * 4 + b"ET12", b"\0" * 4 + b"ET12" + b"eh00" + b"\0" * 40):
        assert share_weights(file) == file
