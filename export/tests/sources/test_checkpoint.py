"""Checkpoints with a named architecture."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from conftest import TINY
from safetensors.torch import save_file

from nearside_export.architectures.tiny_colour import TinyColour
from nearside_export.cli import main
from nearside_export.errors import PackageError, SourceError, UsageError
from nearside_export.manifest import Manifest
from nearside_export.sources.checkpoint import open_checkpoint, read_labels
from nearside_export.tasks import verify


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "labels.txt"
    path.write_text("rot\ngrün\nblau\ngrau\n", encoding="utf-8")
    return path


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    """A tiny-classifier whose classes are the other way round."""
    state = TinyColour().state_dict()
    for name in ("head.weight", "head.bias"):
        state[name] = state[name].flip(0)
    path = tmp_path / "trained.pt"
    torch.save({"epoch": 3, "state_dict": {f"module.{k}": v for k, v in state.items()}}, path)
    return path


def test_weights_of_a_checkpoint_are_exported(
    tmp_path: Path, trained: Path, labels: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["classify", str(trained), "--architecture", "tiny-classifier", "--variant", "fp32"]
    command += ["--labels", str(labels), "--licence", "MIT", "--out", str(tmp_path / "out")]
    assert main(command) == 0
    package = tmp_path / "out" / "trained-fp32.nearside"
    manifest = Manifest.read(package)
    assert manifest.name == "trained"
    assert manifest.licence == "MIT"
    assert (package / "labels.txt").read_text(encoding="utf-8") == "rot\ngrün\nblau\ngrau\n"
    (variant,) = manifest.variants
    assert variant.quality.top1_agreement == 1.0
    assert str(tmp_path) not in variant.export_command
    assert "trained-fp32.nearside" in capsys.readouterr().out

    assert main(["verify", str(package), "--source", str(trained)]) == 0
    assert "measured: top-1 agreement 1.0000" in capsys.readouterr().out
    assert main(["verify", str(package)]) == 1
    assert "give the checkpoint that it was made from with --source" in capsys.readouterr().err
    state = TinyColour().state_dict()
    torch.save(state, tmp_path / "other.pt")
    assert main(["verify", str(package), "--source", str(tmp_path / "other.pt")]) == 1
    assert "top1_agreement: 1.0000 claimed" in capsys.readouterr().err
    with pytest.raises(PackageError, match="was not made from a checkpoint"):
        list(verify.verify(TINY, trained))


def test_safetensors_and_timm(tmp_path: Path, labels: Path) -> None:
    import timm

    torch.manual_seed(0)
    model = timm.create_model("test_efficientnet", pretrained=False, num_classes=4).eval()
    save_file(model.state_dict(), tmp_path / "w.safetensors")
    classifier = open_checkpoint(
        tmp_path / "w.safetensors", "timm/test_efficientnet", labels, "MIT", "mine"
    )
    spec = classifier.image
    assert (spec.width, spec.height, spec.filter) == (160, 160, "bicubic_antialias")
    assert spec.crop_fraction == 0.95
    picture = torch.randn(1, 3, 160, 160)
    with torch.no_grad():
        assert torch.equal(classifier.load()(picture), model(picture))


@pytest.mark.parametrize(
    ("architecture", "message"),
    [
        ("efficientnet-lite0", "trained.pt lacks _blocks"),
        ("timm/test_vit", "trained.pt lacks blocks"),
    ],
)
def test_another_network_is_refused(
    trained: Path, labels: Path, architecture: str, message: str
) -> None:
    with pytest.raises(SourceError, match=message):
        open_checkpoint(trained, architecture, labels, "MIT", None)


def test_what_is_not_given_or_unknown_is_a_usage_error(trained: Path, labels: Path) -> None:
    with pytest.raises(UsageError, match="needs --labels"):
        open_checkpoint(trained, "tiny-classifier", None, "MIT", None)
    with pytest.raises(UsageError, match="give it with --licence"):
        open_checkpoint(trained, "tiny-classifier", labels, None, None)
    with pytest.raises(UsageError, match=r"timm .* has no model 'nope'"):
        open_checkpoint(trained, "timm/nope", labels, "MIT", None)
    with pytest.raises(UsageError, match="unknown model 'nope'"):
        open_checkpoint(trained, "nope", labels, "MIT", None)


def test_labels_must_fit(trained: Path, tmp_path: Path) -> None:
    path = tmp_path / "three.txt"
    path.write_text("a\nb\nc\n\n")
    with pytest.raises(SourceError, match=r"head.*has shape \[4, 8\].* with 3 labels"):
        open_checkpoint(trained, "tiny-classifier", path, "MIT", None)
    path.write_text("a\n\nc\n")
    with pytest.raises(SourceError, match="line 2 is empty"):
        read_labels(path)
    with pytest.raises(SourceError, match="cannot read"):
        read_labels(tmp_path / "none.txt")


def test_files_that_hold_code_or_are_damaged_are_refused(trained: Path, labels: Path) -> None:
    whole = trained.read_bytes()
    trained.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SourceError, match="damaged"):
        open_checkpoint(trained, "tiny-classifier", labels, "MIT", None)
    torch.save(TinyColour(), trained)
    with pytest.raises(SourceError, match="would run code"):
        open_checkpoint(trained, "tiny-classifier", labels, "MIT", None)
    torch.save({"epoch": 3}, trained)
    with pytest.raises(SourceError, match="holds no state dict"):
        open_checkpoint(trained, "tiny-classifier", labels, "MIT", None)
    trained.unlink()
    with pytest.raises(SourceError, match="is missing"):
        open_checkpoint(trained, "tiny-classifier", labels, "MIT", None)
