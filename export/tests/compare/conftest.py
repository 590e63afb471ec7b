"""A tiny Llama and packages made from it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from nearside_export.cli import main
from nearside_export.recipes import registry
from nearside_export.sources.language import open_source
from nearside_export.tasks import generate

# Such small products are slower on several threads, far slower on a busy machine.
torch.set_num_threads(1)


@dataclass(frozen=True)
class Llama:
    """The folder that both packages were made from; not to be changed."""

    folder: Path
    fp32: Path
    int8: Path


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Llama:
    root = tmp_path_factory.mktemp("llama")
    registry.write("llama", root / "tiny-llama")
    keep_one_layer(root / "tiny-llama")
    source = open_source(root / "tiny-llama")
    fp32 = generate.Request(("fp32",), context_length=96, max_prefill_tokens=32)
    int8 = generate.Request(("int8",), context_length=96, max_prefill_tokens=24)
    packages = [generate.export_package(source, r, root, "test") for r in (fp32, int8)]
    return Llama(root / "tiny-llama", *packages)


@pytest.fixture(scope="session")
def two_methods(llama: Llama, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package with ``prefill`` and ``decode``, from the folder of ``llama``."""
    out = tmp_path_factory.mktemp("two-methods")
    options = ["--variant", "int8", "--context", "96", "--max-prefill", "24", "--name", "two"]
    command = ["generate", str(llama.folder), *options, "--methods", "prefill,decode"]
    assert main([*command, "--out", str(out)]) == 0
    return out / "two.nearside"


def keep_one_layer(folder: Path) -> None:
    """Drop the others: a layer takes seconds to lower."""
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 1}))
    tensors = load_file(folder / "model.safetensors")
    kept = {n: t for n, t in tensors.items() if "layers." not in n or "layers.0." in n}
    save_file(kept, folder / "model.safetensors")
