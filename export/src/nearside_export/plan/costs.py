"""Rough constants, from a few exports on two cores of an x86_64 server.

Those of language models are SmolLM2-135M's from a GGUF file: `fp32` took 123 s and 4151 MB, `int8`
with plain attention 176 s and 2987 MB, `8da4w` 218 s and 2800 MB. How long it takes to round anew
by the ways with offsets is guessed, as is all of `int8w`.
"""

from __future__ import annotations

START_SECONDS = 12.0
"""Importing PyTorch and ExecuTorch, opening everything."""

START_BYTES = 700_000_000
"""Peak memory of the same."""

FILES_BYTES = 1_000_000
"""Tokenizer, manifest and what a program has beside its weights, at most about."""

BYTES_A_PARAMETER = {"fp32": 26.0, "fp16": 26.0, "int8": 16.0, "8da4w": 15.0, "int8w": 16.0}
"""Peak memory, beyond the start's: the weights in f32, the graphs' copies, the program's bytes."""

SECONDS_A_LAYER = {"fp32": 1.7, "fp16": 1.7, "int8": 4.0, "8da4w": 4.4, "int8w": 4.0, "own": 0.5}
"""Tracing and lowering one layer of a transformer, ``own`` of operators of ours."""

SECONDS_A_PARAMETER = 0.5e-6
"""Loading, packing and measuring."""

ROUNDING_SECONDS = {
    "source": 0.05e-6,
    "nearest": 0.1e-6,
    "hqq": 0.1e-6,
    "gptq": 3.0e-6,
    "nearest-asymmetric": 0.2e-6,
    "hqq-asymmetric": 0.5e-6,
    "gptq-asymmetric": 3.3e-6,
}
"""A weight of a linear layer; GPTQ with the text that it is calibrated with."""
ROUNDING_SECONDS["auto"] = 0.5e-6 + sum(
    ROUNDING_SECONDS[way] for way in ("nearest", "hqq", "nearest-asymmetric", "gptq-asymmetric")
)
