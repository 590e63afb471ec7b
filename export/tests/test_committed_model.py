"""The committed int8 package does what its manifest claims."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from conftest import EFFICIENTNET, TINY
from PIL import Image

from nearside_export import media
from nearside_export.architectures.efficientnet_lite0 import EFFICIENTNET_LITE0
from nearside_export.data.sources import photo
from nearside_export.errors import PackageError
from nearside_export.manifest import Manifest
from nearside_export.preprocess import preprocess
from nearside_export.runtime.wheel import LoadedMethod
from nearside_export.tasks import verify


def test_measuring_the_committed_package_again_gives_the_manifests_figures() -> None:
    (comparison,) = verify.verify(EFFICIENTNET)
    assert comparison.differences() == []
    assert comparison.measured.top1_agreement >= comparison.claimed.gate.top1_agreement


def test_a_manifest_that_claims_too_much_is_found_out(tmp_path: Path) -> None:
    package = tmp_path / TINY.name
    shutil.copytree(TINY, package)
    path = package / "manifest.json"
    raw = json.loads(path.read_text(encoding="utf-8"))
    raw["variants"][0]["quality"]["top1_agreement"] = 0.9
    raw["variants"][0]["quality"]["logit_rmse"] = 0.5
    path.write_text(json.dumps(raw), encoding="utf-8")
    (comparison,) = verify.verify(package)
    assert [d.split(":")[0] for d in comparison.differences()] == ["top1_agreement", "logit_rmse"]


def test_a_package_of_an_unknown_model_cannot_be_verified(tmp_path: Path) -> None:
    package = tmp_path / TINY.name
    shutil.copytree(TINY, package)
    path = package / "manifest.json"
    path.write_text(path.read_text().replace('"tiny-classifier"', '"other"'), encoding="utf-8")
    with pytest.raises(PackageError, match="known: efficientnet-lite0"):
        list(verify.verify(package))


@pytest.fixture(scope="module")
def program() -> LoadedMethod:
    variant = Manifest.read(EFFICIENTNET).variant("xnnpack-int8")
    return LoadedMethod((EFFICIENTNET / variant.program.path).read_bytes(), variant.method)


def best_label(program: LoadedMethod, picture: Image.Image) -> str:
    logits = program.run([preprocess(picture, EFFICIENTNET_LITE0.image)])[0]
    return EFFICIENTNET_LITE0.labels()[int(np.argmax(logits))]


@pytest.mark.parametrize(
    ("package", "name", "expected"),
    [
        ("skimage.data", "coffee.png", {"espresso"}),
        ("skimage.data", "chelsea.png", {"tiger cat", "tabby, tabby cat", "Egyptian cat"}),
        ("skimage.data", "rocket.jpg", {"missile", "projectile, missile"}),
        ("skimage.data", "camera.png", {"tripod"}),
        ("sklearn.datasets.images", "flower.jpg", {"daisy"}),
    ],
)
def test_photos_get_the_right_label(
    program: LoadedMethod, package: str, name: str, expected: set[str]
) -> None:
    assert best_label(program, photo(package, name)) in expected


def test_the_clip_shows_an_espresso_then_a_cat_then_a_rocket(program: LoadedMethod) -> None:
    frames = list(media.frames())
    last_of_shots = [f - 1 for f in np.cumsum([shot.frames for shot in media.SHOTS])]
    labels = [best_label(program, Image.fromarray(frames[i])) for i in last_of_shots]
    assert labels[0] == "espresso"
    assert "cat" in labels[1]
    assert "missile" in labels[2]
