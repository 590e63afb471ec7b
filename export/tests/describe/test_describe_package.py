from __future__ import annotations

from pathlib import Path

from nearside_export.manifest import Describe, Manifest
from nearside_export.package import check_files
from nearside_export.recipes import tiny_gemma3_vision
from nearside_export.tasks import describe


def test_a_folder_becomes_a_package_with_all_methods_and_measured_quality(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "tiny-gemma3-vision"
    folder.mkdir()
    tiny_gemma3_vision.write(folder)
    request = describe.Request(context_length=64)
    target = describe.export_package(folder, request, tmp_path / "out", "test")
    manifest = Manifest.read(target)
    check_files(target, manifest)
    task, (variant,) = manifest.task, manifest.variants
    assert isinstance(task, Describe)
    assert task.vision.tokens_per_image == 16
    assert (task.image.width, task.image.fit, task.image.mean) == (32, "stretch", (0.5, 0.5, 0.5))
    assert (task.generation.max_prefill_tokens, task.generation.sliding_window) == (64, 8)
    names = [method.name for method in variant.methods]
    assert names == ["vision_encoder", "token_embedding", "text_decoder"]
    assert variant.method == "text_decoder"
    assert variant.planned_bytes == sum(method.planned_bytes for method in variant.methods)
    assert variant.quality.logit_max_error < 1e-4
    assert variant.quality.embedding_max_error < 1e-4
    assert variant.quality.next_token_agreement == 1.0
