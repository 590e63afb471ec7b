"""Whole models in eager PyTorch, called as a runtime calls them, beside transformers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from nearside_export import describe_quality
from nearside_export.architectures.decoder.cache import keep_what_is_seen
from nearside_export.architectures.multimodal import families
from nearside_export.architectures.multimodal.model import TEXT_DECODER, Multimodal
from nearside_export.describe_quality import Program, Prompt, chunks
from nearside_export.errors import SourceError, UnsupportedError, UsageError
from nearside_export.manifest import DescribeGate
from nearside_export.plan.decoder import context_length
from nearside_export.recipes import files, tiny_gemma3_vision, tiny_gemma3n
from nearside_export.sources.fields import Fields, read_object
from nearside_export.tasks import describe

CONTEXT = 64
GATE = DescribeGate(logit_max_error=1e-3)
RECIPES = {"gemma3": tiny_gemma3_vision, "gemma3n": tiny_gemma3n}


@pytest.fixture(scope="module", params=RECIPES)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Multimodal:
    return load(RECIPES[request.param].write, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def gemma3(tmp_path_factory: pytest.TempPathFactory) -> Multimodal:
    return load(tiny_gemma3_vision.write, tmp_path_factory.mktemp("gemma3-alone"))


def load(write: Callable[[Path], None], folder: Path) -> Multimodal:
    write(folder)
    config = Fields.read(folder / "config.json")
    return families.loader(config)(folder, config, CONTEXT, "plain")


def prompt(model: Multimodal, before: int) -> tuple[Prompt, np.ndarray]:
    vision, rng = model.vision, np.random.default_rng(before)
    ids = [2, *rng.integers(6, 262, before).tolist(), vision.begin_image_id]
    first = len(ids)
    ids += [vision.image_token_id] * vision.tokens_per_image + [vision.end_image_id]
    ids += rng.integers(6, 262, 18).tolist()
    size = model.image_size or tiny_gemma3n.IMAGE_SIZE
    pixels = rng.normal(size=(1, 3, size, size)).astype(np.float32)
    return Prompt(ids, first, first + vision.tokens_per_image), pixels


@pytest.mark.parametrize("longest", [16, 64])
def test_pictures_amid_text_equal_transformers(model: Multimodal, longest: int) -> None:
    keep_what_is_seen(model.methods[TEXT_DECODER], longest)
    program = Program.of_modules(model)
    prompts = [prompt(model, before) for before in (0, 9)]
    quality = describe_quality.measure(model, program, prompts, longest, GATE)
    assert quality.logit_max_error < 1e-4
    assert quality.embedding_max_error < 1e-5
    assert quality.next_token_agreement == 1.0


def test_the_picture_counts(model: Multimodal) -> None:
    asked, pixels = prompt(model, 4)
    _, want = describe_quality.expected(model, asked, pixels)
    _, other = describe_quality.expected(model, asked, pixels * 0.5)
    assert np.abs(want[-1] - other[-1]).max() > 1e-2


def test_rows_of_an_image_that_see_only_back_are_found(gemma3: Multimodal) -> None:
    causal = Program.of_modules(gemma3)
    causal._bidirectional = False
    quality = describe_quality.measure(gemma3, causal, [prompt(gemma3, 4)], 64, GATE)
    assert quality.logit_max_error > 1e-2


def test_a_window_that_images_ignore_is_found(gemma3: Multimodal) -> None:
    program = Program.of_modules(gemma3)
    cores = [layer.self_attn.core for layer in gemma3.methods[TEXT_DECODER].decoder.layers]
    windows = [core.window for core in cores]
    assert {8, 0} == set(windows)
    try:
        for core in cores:
            core.window = 0
        quality = describe_quality.measure(gemma3, program, [prompt(gemma3, 4)], 64, GATE)
    finally:
        for core, window in zip(cores, windows, strict=True):
            core.window = window
    assert quality.logit_max_error > 1e-2


def test_an_image_is_never_cut_in_two() -> None:
    asked = Prompt(list(range(40)), 5, 21)
    assert list(chunks(asked, 16, 30)) == [
        (0, 5),
        (5, 21),
        (21, 30),
        *((i, i + 1) for i in range(30, 40)),
    ]
    with pytest.raises(ValueError, match="16 image rows"):
        list(chunks(asked, 15, 30))


def test_lengths_without_room_for_an_image_are_refused(gemma3: Multimodal) -> None:
    def lengths(request: describe.Request) -> tuple[int, int]:
        context = context_length(request.context_length, gemma3.text.max_context)
        return context, describe.longest_call(request, gemma3, context)

    for request, message in (
        (describe.Request(context_length=1000), "more than the 256"),
        (describe.Request(context_length=17), "no room for text"),
        (describe.Request(context_length=64, max_prefill_tokens=15), "must come in one call"),
    ):
        with pytest.raises(UsageError, match=message):
            lengths(request)
    assert lengths(describe.Request(context_length=64)) == (64, 64)
    assert lengths(describe.Request()) == (256, 128)


def test_a_broken_folder_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder, out = tmp_path / "model", tmp_path / "out"
    folder.mkdir()
    tiny_gemma3_vision.write(folder)
    config = read_object(folder / "config.json")
    request = describe.Request(context_length=64)

    files.write_json(folder / "config.json", {**config, "architectures": ["LlavaForVision"]})
    with pytest.raises(UnsupportedError, match=r"LlavaForVision.*known: Gemma3For"):
        describe.export_package(folder, request, out, "test")
    files.write_json(folder / "config.json", config)

    for part, field, value in (
        ("text_config", "num_attention_heads", 0),
        ("text_config", "hidden_size", "wide"),
        ("text_config", "rope_parameters", {"full_attention": "x"}),
        ("vision_config", "num_channels", -3),
        (None, "image_token_index", -1),
    ):
        wrong = {**config[part], field: value} if part else value
        files.write_json(folder / "config.json", {**config, part or field: wrong})
        with pytest.raises((SourceError, UnsupportedError)):
            describe.export_package(folder, request, out, "test")
    files.write_json(folder / "config.json", config)

    weights = load_file(folder / "model.safetensors")
    some = next(iter(weights))
    nowhere = torch.full_like(weights[some], torch.nan)
    save_file({**weights, some: nowhere}, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(SourceError, match="has values that are NaN or inf"):
        describe.export_package(folder, request, out, "test")
    lost = next(name for name in weights if name.endswith("mm_soft_emb_norm.weight"))
    kept = {name: tensor for name, tensor in weights.items() if name != lost}
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(SourceError, match="mm_soft_emb_norm"):
        describe.export_package(folder, request, out, "test")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})

    processor = read_object(folder / "preprocessor_config.json")
    wrong = {**processor, "size": {"height": 16, "width": 16}}
    files.write_json(folder / "preprocessor_config.json", wrong)
    with pytest.raises(UnsupportedError, match="16 x 16, but the image tower takes 32 x 32"):
        describe.export_package(folder, request, out, "test")
    assert not out.exists() or list(out.iterdir()) == []


def test_audio_is_left_out_with_a_word(model: Multimodal) -> None:
    hears = hasattr(model.reference.config, "audio_config")
    assert [("audio encoder is left out" in note) for note in model.notes] == [True] * hears


def test_special_image_ids_have_their_own_embeddings(model: Multimodal) -> None:
    ids = torch.tensor([[model.vision.end_image_id, 7]])
    if model.per_layer_width == 0:
        want = model.reference.get_input_embeddings()(ids)
    else:
        inner = model.reference.model
        want = inner.get_input_embeddings()(ids)
        want[0, 0] = inner.embed_vision(input_ids=ids[:, :1])[0, 0]
    with torch.no_grad():
        torch.testing.assert_close(model.methods["token_embedding"](ids), want)
