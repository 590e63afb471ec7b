from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest
from conftest import EFFICIENTNET, TINY, VARIANTS

from nearside_export.architectures.efficientnet_lite0 import EFFICIENTNET_LITE0
from nearside_export.architectures.tiny_colour import TINY_COLOUR
from nearside_export.errors import ExportError, PackageError, QualityError
from nearside_export.manifest import Classify, ClassifyGate, Manifest
from nearside_export.package import check_files, read_labels, staged_files, staged_folder
from nearside_export.tasks import classify


@pytest.mark.parametrize(
    ("package", "classifier"),
    [(EFFICIENTNET, EFFICIENTNET_LITE0), (TINY, TINY_COLOUR)],
    ids=["efficientnet-lite0", "tiny-classifier"],
)
def test_a_committed_package_is_what_its_manifest_says(
    package: Path, classifier: classify.Classifier
) -> None:
    manifest = Manifest.read(package)
    check_files(package, manifest)
    assert manifest.name == classifier.name
    assert isinstance(manifest.task, Classify)
    assert manifest.task.image == classifier.image
    assert read_labels(package, manifest.task) == classifier.labels()
    named = {"manifest.json", *(ref.path for ref in manifest.files())}
    assert {p.name for p in package.iterdir()} == named


def test_variants_with_data_files_are_what_their_manifest_says() -> None:
    manifest = Manifest.read(VARIANTS)
    check_files(VARIANTS, manifest)
    for variant in manifest.variants:
        pte = (VARIANTS / variant.program.path).read_bytes()
        (data,) = variant.external_data
        measured = classify.measure_quality(
            TINY_COLOUR, pte, variant.method, variant.quality.gate, VARIANTS / data.path
        )
        assert measured.top1_agreement == variant.quality.top1_agreement == 1.0


def test_a_damaged_file_is_reported_by_name(tmp_path: Path) -> None:
    package = tmp_path / TINY.name
    shutil.copytree(TINY, package)
    program = package / "xnnpack-fp32.pte"
    data = bytearray(program.read_bytes())
    data[-1] ^= 1
    program.write_bytes(data)
    with pytest.raises(PackageError, match=r"xnnpack-fp32\.pte"):
        check_files(package, Manifest.read(package))
    program.unlink()
    with pytest.raises(PackageError, match=r"cannot read xnnpack-fp32\.pte"):
        check_files(package, Manifest.read(package))


def test_a_failed_export_leaves_no_trace_and_the_old_package_as_it_was(tmp_path: Path) -> None:
    target = tmp_path / "model.nearside"
    target.mkdir()
    (target / "old").write_text("kept")

    def fail_half_way() -> None:
        with staged_folder(target) as folder:
            (folder / "new").write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    assert [p.name for p in tmp_path.iterdir()] == [target.name]
    assert (target / "old").read_text() == "kept"


def test_a_package_is_replaced_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "model.nearside"
    for name in ("first", "second"):
        with staged_folder(target) as folder:
            (folder / name).write_text(name)
    assert [p.name for p in target.iterdir()] == ["second"]
    assert [p.name for p in tmp_path.iterdir()] == [target.name]


def test_an_export_below_its_gate_fails_and_writes_nothing(tmp_path: Path) -> None:
    strict = dataclasses.replace(TINY_COLOUR, gates={"int8": ClassifyGate(top1_agreement=1.01)})
    target = classify.package_path(strict, tmp_path, ["int8"])
    with pytest.raises(QualityError, match="below its quality gate"):
        classify.export_package(strict, ["int8"], target, "test")
    assert list(tmp_path.iterdir()) == []


def test_fp32_goes_beside_the_int8_package(tmp_path: Path) -> None:
    paths = {v: classify.package_path(TINY_COLOUR, tmp_path, [v]).name for v in ("int8", "fp32")}
    assert paths == {
        "int8": "tiny-classifier.nearside",
        "fp32": "tiny-classifier-fp32.nearside",
    }


def test_an_export_that_would_drop_a_variant_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "tiny-classifier.nearside"
    shutil.copytree(TINY, target)
    with pytest.raises(
        ExportError, match=r"also holds xnnpack-fp32.*--variant xnnpack-int8,xnnpack-fp32"
    ):
        classify.export_package(TINY_COLOUR, ["int8"], target, "test")
    check_files(target, Manifest.read(target))


def test_something_else_than_a_package_is_never_replaced(tmp_path: Path) -> None:
    target = tmp_path / "tiny-classifier.nearside"
    target.mkdir()
    (target / "holiday.jpg").write_text("precious")
    with pytest.raises(ExportError, match="not a model package"):
        classify.export_package(TINY_COLOUR, ["fp32"], target, "test")
    assert (target / "holiday.jpg").read_text() == "precious"


def test_writing_files_into_a_folder_keeps_its_other_files(tmp_path: Path) -> None:
    for name in ("mine", "made"):
        (tmp_path / name).write_text("old")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "stale").write_text("old")
    with staged_files(tmp_path) as folder:
        (folder / "made").write_text("new")
        (folder / "sub").mkdir()
        (folder / "sub" / "fresh").write_text("new")
    assert (tmp_path / "mine").read_text() == "old"
    assert (tmp_path / "made").read_text() == "new"
    assert [p.name for p in (tmp_path / "sub").iterdir()] == ["fresh"]


def test_a_package_can_be_staged_inside_of_what_is_staged(tmp_path: Path) -> None:
    with staged_files(tmp_path / "all") as outer, staged_folder(outer / "inner") as inner:
        (inner / "made").write_text("new")
    assert (tmp_path / "all" / "inner" / "made").read_text() == "new"
    assert [p.name for p in tmp_path.iterdir()] == ["all"]
