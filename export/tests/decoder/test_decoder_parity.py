"""Our decoder against transformers' models of the same weights, in eager fp32."""

from __future__ import annotations

import decoder_models as models
import pytest
import torch

# Prefill in two chunks with a token between them, then token by token.
CALLS = [(0, 13), (13, 14), (14, 30), *((i, i + 1) for i in range(30, 40))]
TOLERANCE = 1e-4


@pytest.mark.parametrize("attention", ["plain", "fused"])
@pytest.mark.parametrize("case", models.CASES)
def test_logits_equal_those_of_transformers(case: str, attention: str) -> None:
    reference = models.CASES[case]()
    decoder = models.ours(reference, attention)
    tokens = models.text(40)
    want = models.want(reference, tokens)
    positions = torch.arange(40)
    with torch.no_grad():
        for start, end in CALLS:
            got = decoder(tokens[:, start:end], positions[start:end])
            assert got.shape == (1, 1, models.VOCABULARY)
            assert torch.allclose(got[0, 0], want[end - 1], atol=TOLERANCE, rtol=0)


def test_all_positions_at_once_equal_those_of_transformers() -> None:
    reference = models.CASES["gemma3, sliding and full"]()
    decoder = models.ours(reference)
    tokens = models.text(models.CONTEXT)
    with torch.no_grad():
        stream = decoder.stream(decoder.embed(tokens), torch.arange(models.CONTEXT))
        got = decoder.logits(stream)[0]
    assert torch.allclose(got, models.want(reference, tokens), atol=TOLERANCE, rtol=0)


@pytest.mark.parametrize("attention", ["plain", "fused"])
def test_a_rewound_position_is_written_anew(attention: str) -> None:
    decoder = models.ours(models.CASES["qwen3, tied"](), attention)
    tokens = models.text(12)
    with torch.no_grad():
        want = decoder(tokens, torch.arange(12))
        decoder.reset()
        decoder(models.text(30)[:, 10:30], torch.arange(20))  # another text, further than ours
        decoder(tokens[:, :5], torch.arange(5))
        got = decoder(tokens[:, 5:], torch.arange(5, 12))
    assert torch.allclose(got, want, atol=TOLERANCE, rtol=0)


@pytest.mark.parametrize("attention", ["plain", "fused"])
def test_rows_see_up_to_visible_until(attention: str) -> None:
    """A block of rows that see each other (an image) gets what a full mask gives it."""
    decoder = models.ours(models.llama(), attention)
    tokens = models.text(10)
    until = torch.arange(10)
    until[3:7] = 6
    with torch.no_grad():
        got = decoder.stream(decoder.embed(tokens), torch.arange(10), until)
        decoder.reset()
        # Rows 3 to 6 again, once all of them are in the cache: plain causal rows see less.
        causal = decoder.stream(decoder.embed(tokens), torch.arange(10))
    assert torch.allclose(got[:, :3], causal[:, :3], atol=TOLERANCE, rtol=0)
    assert not torch.allclose(got[:, 3:6], causal[:, 3:6], atol=1e-2, rtol=0)

    blocked = models.llama()
    mask = torch.full((10, 10), -torch.inf).triu(1)
    mask[3:7, 3:7] = 0.0
    with torch.no_grad():
        want = blocked.model(tokens, attention_mask=mask[None, None]).last_hidden_state
        assert torch.allclose(decoder.norm(got), want, atol=TOLERANCE, rtol=0)
