"""Run one workload on llama.cpp, in a process of its own, and print what it took as a line of JSON.

The calls are llama.cpp's own C functions (through ``llama_cpp``, its Python package); Python only
starts them. Tokens are random ones, decoding is greedy and goes on over ends of text, as
``nearside bench`` does it.
"""

import argparse
import ctypes
import json
import random
import sys
import time
from pathlib import Path

import llama_cpp as llama


@llama.llama_log_callback
def _quiet(_level: int, _text: bytes, _data: ctypes.c_void_p) -> None:
    """Say nothing: the figures are on stdout alone."""


class Run:
    """A model with one sequence."""

    def __init__(self, model: Path, threads: int, context: int, batch: int) -> None:
        llama.llama_log_set(_quiet, ctypes.c_void_p(0))
        llama.llama_backend_init()
        begin = time.perf_counter()
        options = llama.llama_model_default_params()
        options.n_gpu_layers = 0
        self.model = llama.llama_model_load_from_file(str(model).encode(), options)
        if not self.model:
            raise SystemExit(f"llama.cpp can't load {model}")
        settings = llama.llama_context_default_params()
        settings.n_ctx, settings.n_batch, settings.n_ubatch = context, batch, batch
        settings.n_threads = settings.n_threads_batch = threads
        settings.no_perf = True
        self.context = llama.llama_init_from_model(self.model, settings)
        if not self.context:
            raise SystemExit("llama.cpp can't make a context")
        self.load = time.perf_counter() - begin
        self.batch = batch
        self.vocabulary = llama.llama_vocab_n_tokens(llama.llama_model_get_vocab(self.model))
        self.greedy = llama.llama_sampler_init_greedy()

    def prefill(self, tokens: list[int]) -> float:
        """Empty the context, compute ``tokens``; seconds."""
        llama.llama_memory_clear(llama.llama_get_memory(self.context), 0)
        parts = [tokens[at : at + self.batch] for at in range(0, len(tokens), self.batch)]
        arrays = [(llama.llama_token * len(part))(*part) for part in parts]
        begin = time.perf_counter()
        for array in arrays:
            self._compute(array)
        # Computing is put off until something is read.
        llama.llama_get_logits_ith(self.context, -1)
        return time.perf_counter() - begin

    def decode(self, count: int) -> list[float]:
        """Generate ``count`` tokens after what was computed; seconds of each."""
        token = (llama.llama_token * 1)()
        times = []
        for _ in range(count):
            begin = time.perf_counter()
            token[0] = llama.llama_sampler_sample(self.greedy, self.context, -1)
            self._compute(token)
            llama.llama_get_logits_ith(self.context, -1)
            times.append(time.perf_counter() - begin)
        return times

    def _compute(self, tokens: ctypes.Array[ctypes.c_int]) -> None:
        batch = llama.llama_batch_get_one(tokens, len(tokens))
        if llama.llama_decode(self.context, batch) != 0:
            raise SystemExit("llama.cpp failed to compute")


def memory(field: str) -> int:
    """Give a field of this process's status in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise SystemExit(f"the system does not tell {field}")


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--context", type=int, default=2048)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--prefill", type=int, default=0, help="tokens of the timed prefill")
    parser.add_argument("--decode", type=int, default=48, help="tokens generated at each context")
    parser.add_argument("--at", default="", help="contexts to decode after, with commas")
    args = parser.parse_args()

    before = memory("VmRSS")
    run = Run(args.model, args.threads, args.context, args.batch)
    chosen = random.Random(1)

    def prompt(length: int) -> list[int]:
        return [chosen.randrange(run.vocabulary) for _ in range(length)]

    run.prefill(prompt(32))
    run.decode(4)
    result: dict[str, object] = {"load_s": run.load}
    if args.prefill:
        result["prefill"] = {"tokens": args.prefill, "s": run.prefill(prompt(args.prefill))}
    decoded = []
    for at in [int(part) for part in args.at.split(",") if part]:
        run.prefill(prompt(at))
        decoded.append({"context": at, "tokens": args.decode, "s": sum(run.decode(args.decode))})
    result["decode"] = decoded
    result["before_bytes"] = before
    result["peak_bytes"] = memory("VmHWM")
    json.dump(result, sys.stdout)
    print()


if __name__ == "__main__":
    main()
