"""Write a GGUF file's weights anew as Q4_0 or Q8_0, with llama.cpp's own quantiser."""

import argparse
import ctypes
from pathlib import Path

import llama_cpp as llama

KINDS = {"q4_0": llama.LLAMA_FTYPE_MOSTLY_Q4_0, "q8_0": llama.LLAMA_FTYPE_MOSTLY_Q8_0}


@llama.llama_log_callback
def _quiet(_level: int, _text: bytes, _data: ctypes.c_void_p) -> None:
    """Say nothing."""


def requantise(source: Path, target: Path, kind: str) -> None:
    """Write ``target`` unless it is there; at once, so that nothing half-written stays."""
    if target.exists():
        return
    llama.llama_log_set(_quiet, ctypes.c_void_p(0))
    options = llama.llama_model_quantize_default_params()
    options.ftype = KINDS[kind]
    options.allow_requantize = True
    part = target.with_suffix(".part")
    if llama.llama_model_quantize(str(source).encode(), str(part).encode(), ctypes.byref(options)):
        raise SystemExit(f"llama.cpp can't make {kind} of {source}")
    part.rename(target)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("kind", choices=KINDS)
    args = parser.parse_args()
    requantise(args.source, args.target, args.kind)
