"""Write `cases.json`: the probabilities that transformers' own logits processors leave.

Run it with the exporter's Python environment, which has torch and transformers:

    python crates/language/tests/reference/sampling/generate.py
"""

import json
import random
from pathlib import Path

import torch
import transformers
from transformers import (
    LogitsProcessorList,
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    SequenceBiasLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

OPTIONS = [
    {},
    {"temperature": 0.5},
    {"temperature": 1.8},
    {"top_k": 5},
    {"top_p": 0.7},
    {"top_p": 0.95, "temperature": 2.0},
    {"min_p": 0.1},
    {"repetition_penalty": 1.4},
    {"repetition_penalty": 0.7},
    {"logit_bias": [[2, 3.0], [7, -2.5]]},
    {
        "temperature": 0.8,
        "top_k": 20,
        "top_p": 0.9,
        "min_p": 0.05,
        "repetition_penalty": 1.2,
        "logit_bias": [[1, 1.0]],
    },
]


def processors(options: dict) -> LogitsProcessorList:
    """Put the steps in the order in which `generate` has them."""
    steps = LogitsProcessorList()
    if "logit_bias" in options:
        steps.append(
            SequenceBiasLogitsProcessor([[[token], bias] for token, bias in options["logit_bias"]])
        )
    if "repetition_penalty" in options:
        steps.append(RepetitionPenaltyLogitsProcessor(options["repetition_penalty"]))
    if "temperature" in options:
        steps.append(TemperatureLogitsWarper(options["temperature"]))
    if "top_k" in options:
        steps.append(TopKLogitsWarper(options["top_k"]))
    if "top_p" in options:
        steps.append(TopPLogitsWarper(options["top_p"]))
    if "min_p" in options:
        steps.append(MinPLogitsWarper(options["min_p"]))
    return steps


def main() -> None:
    """Write the file beside this one."""
    numbers = random.Random(6)
    cases = []
    for options in OPTIONS:
        logits = [round(numbers.gauss(0, 2.5), 3) for _ in range(80)]
        prompt = [numbers.randrange(80) for _ in range(6)]
        scores = processors(options)(torch.tensor([prompt]), torch.tensor([logits]))
        probabilities = torch.softmax(scores[0].double(), dim=0)
        kept = {token: float(f"{p:.9g}") for token, p in enumerate(probabilities.tolist()) if p > 0}
        cases.append(
            {"options": options, "prompt": prompt, "logits": logits, "probabilities": kept}
        )
    lines = ",\n".join(json.dumps(case) for case in cases)
    document = f'{{"transformers": "{transformers.__version__}", "cases": [\n{lines}\n]}}\n'
    (Path(__file__).parent / "cases.json").write_text(document)


if __name__ == "__main__":
    main()
