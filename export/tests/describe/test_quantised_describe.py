"""Gemma 3 with its eyes in integers, from the folder to what is measured of the package."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from nearside_export.architectures.multimodal import families
from nearside_export.cli import main
from nearside_export.errors import UnsupportedError
from nearside_export.manifest import Manifest
from nearside_export.recipes import tiny_gemma3n
from nearside_export.sources import huggingface
from nearside_export.sources.fields import Fields
from nearside_export.tasks import describe


def test_two_variants_of_a_package_each_from_the_same_weights(folder: Path, tmp_path: Path) -> None:
    command = ["describe", str(folder), "--variant", "int8,8da4w", "--rounding", "nearest"]
    options = ["--context", "48", "--max-prefill", "16", "--no-resume", "--out", str(tmp_path)]
    assert main([*command, *options, "--work", str(tmp_path / "work")]) == 0
    package = tmp_path / "tiny-gemma3-vision.nearside"
    int8, four = Manifest.read(package).variants
    assert (int8.quantisation, int8.embedding_bits, int8.group_size) == ("int8-dynamic", 8, None)
    assert (four.quantisation, four.group_size, four.rounding) == ("8da4w", 32, "nearest")
    assert int8.quality.gate.kl_divergence == 0.05
    assert four.quality.gate.kl_divergence == 0.2
    assert 0 < int8.quality.kl_divergence < four.quality.kl_divergence
    # The eyes have 8 bits in both, and nothing before them differs.
    assert int8.quality.embedding_max_error == four.quality.embedding_max_error > 1e-4
    assert "--rounding nearest" in four.export_command
    assert main(["verify", str(package), "--source", str(folder)]) == 0


def test_quantising_leaves_reference_and_fp32_model_and_reads_one_table(folder: Path) -> None:
    config = Fields.read(folder / "config.json")
    model = families.loader(config)(folder, config, 48, "plain")
    before = {n: t.clone() for n, t in model.reference.state_dict().items()}
    eyes = model.methods["vision_encoder"]
    pixels = torch.randn(1, 3, 32, 32, generator=torch.Generator().manual_seed(1))
    tokenizer = huggingface.read_tokenizer(folder, config)
    with torch.no_grad():
        want = eyes(pixels)
        made, _ = describe.quantised(model, "int8", tokenizer, 48, describe.Request())
        got = made.methods["vision_encoder"](pixels)
        assert torch.equal(eyes(pixels), want)
        assert torch.equal(model.reference.get_image_features(pixels).pooler_output, want)
    assert 0 < (got - want).abs().max() < 0.1 * want.abs().max()
    after = model.reference.state_dict()
    assert after.keys() == before.keys()
    assert all(torch.equal(after[name], tensor) for name, tensor in before.items())
    text = made.methods["text_decoder"].decoder
    assert made.methods["token_embedding"].embedding is text.embedding
    kept = [m for m in made.methods["vision_encoder"].modules() if isinstance(m, torch.nn.Linear)]
    # Two layers of six, and the projection.
    assert [type(m.weight.data).__name__ for m in kept] == ["IntxUnpackedToInt8Tensor"] * 13


@pytest.mark.parametrize("dry", [True, False])
def test_gemma3n_in_integers_is_refused_before_any_work(
    tmp_path: Path, dry: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = tmp_path / "model", tmp_path / "out"
    folder.mkdir()
    tiny_gemma3n.write(folder)
    command = ["describe", str(folder), "--variant", "8da4w", "--out", str(out)]
    assert main([*command, "--dry-run"] if dry else command) != 0
    assert "Gemma 3n goes as --variant fp32 only" in capsys.readouterr().err
    with pytest.raises(UnsupportedError, match="as int8 by `describe`"):
        describe.export_package(folder, describe.Request(variants=("int8",)), out, "test")
    assert not out.exists()
