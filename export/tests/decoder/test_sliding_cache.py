"""Caches of sliding layers as rings: many times round, beside transformers."""

from __future__ import annotations

import decoder_models as models
import pytest
import torch

from nearside_export.architectures.decoder.attention import Core
from nearside_export.architectures.decoder.cache import keep_what_is_seen, sliding_slots

TOLERANCE = 1e-4
LENGTH = models.CONTEXT


def calls(longest: int) -> list[tuple[int, int]]:
    """A prompt in whole chunks, some tokens, chunks again, and tokens to the context's end."""
    lengths = [longest] * (20 // longest + 1) + [1] * 4 + [longest, max(1, longest - 1)] * 2
    found, start = [], 0
    for length in [*lengths, *[1] * LENGTH]:
        if start < LENGTH:
            found.append((start, min(start + length, LENGTH)))
        start += length
    return found


def slots(model: torch.nn.Module) -> list[int]:
    return [module.cache.slots for module in model.modules() if isinstance(module, Core)]


@pytest.mark.parametrize("attention", ["plain", "fused"])
@pytest.mark.parametrize("longest", [1, 2, 5, 13, 58, 64])
def test_gemma3_decodes_many_times_round(longest: int, attention: str) -> None:
    reference = models.CASES["gemma3, sliding and full"]()
    decoder = models.ours(reference, attention)
    keep_what_is_seen(decoder, longest)
    kept = min(64, 6 + longest)
    assert slots(decoder) == [kept, 64, kept]
    tokens, positions = models.text(LENGTH), torch.arange(LENGTH)
    want = models.want(reference, tokens)
    with torch.no_grad():
        for start, end in calls(longest):
            got = decoder(tokens[:, start:end], positions[start:end])[0, 0]
            torch.testing.assert_close(got, want[end - 1], atol=TOLERANCE, rtol=0)


@pytest.mark.parametrize("attention", ["plain", "fused"])
def test_a_conversation_goes_back_as_far_as_the_manifest_says(attention: str) -> None:
    """``sliding_slots - sliding_window`` positions from the newest one; one more is too far."""
    longest = 5
    reference = models.CASES["gemma3, sliding and full"]()
    decoder = models.ours(reference, attention)
    keep_what_is_seen(decoder, longest)
    tokens, newest = models.text(40), 36
    back = sliding_slots(LENGTH, 6, longest) - 6
    want = models.want(reference, tokens)

    def error(position: int) -> float:
        decoder.reset()
        with torch.no_grad():
            for start in range(0, newest, 4):
                decoder(tokens[:, start : start + 4], torch.arange(start, start + 4))
            decoder(tokens[:, newest : newest + 1], torch.tensor([newest]))
            got = decoder(tokens[:, position : position + 1], torch.tensor([position]))
        return float((got[0, 0] - want[position]).abs().max())

    assert error(newest - back) < TOLERANCE
    assert error(newest - back - 1) > 1e-2


@pytest.mark.parametrize("attention", ["plain", "fused"])
def test_calls_that_are_too_long_for_a_ring_are_refused(attention: str) -> None:
    decoder = models.ours(models.CASES["gemma3, sliding and full"](), attention)
    keep_what_is_seen(decoder, 5)
    problem = "7 rows are too many" if attention == "plain" else "more than the cache's 11 slots"
    with (
        torch.no_grad(),
        pytest.raises((ValueError, RuntimeError), match=problem),
    ):
        decoder(models.text(7), torch.arange(20, 27))
