"""Where kept results are, what they depend on, and when they go."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from nearside_export.resume import container, folder, identity
from nearside_export.resume.work import Keeping, Work


def test_a_file_is_read_back_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "x"
    container.write(path, {"a": [1]}, {"two": b"1234", "one": bytearray(9), "none": b""})
    facts, parts = container.read(path)
    assert facts == {"a": [1]}
    assert {n: bytes(p) for n, p in parts.items()} == {"two": b"1234", "one": bytes(9), "none": b""}
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole + b"x", whole[:20], b"", whole.replace(b"[1]", b"[2]")):
        path.write_bytes(damaged)
        with pytest.raises(container.DamagedError):
            container.read(path)
    for i in range(len(whole)):
        path.write_bytes(whole[:i] + bytes([whole[i] ^ 8]) + whole[i + 1 :])
        with pytest.raises(container.DamagedError):
            container.read(path)


def test_a_moved_source_is_the_same_and_a_changed_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def key(place: Path, **options: int) -> str:
        return identity.key(identity.files(place), {"context": 8, **options})

    source = tmp_path / "source"
    (source / "sub").mkdir(parents=True)
    (source / "sub" / "weights").write_bytes(bytes(100))
    (source / ".cache").write_bytes(b"not a part")
    first = key(source)
    moved = source.rename(tmp_path / "moved")
    (moved / ".cache").unlink()
    assert key(moved) == first
    assert key(moved, context=9) != first
    (moved / "sub" / "weights").write_bytes(bytes(99) + b"1")
    assert key(moved) != first
    (moved / "sub" / "weights").write_bytes(bytes(100))
    assert key(moved) == first
    monkeypatch.setattr(identity, "_version", lambda _: "9.9")
    assert key(moved) != first


def test_large_files_count_by_their_ends_and_their_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "WHOLE", 99)
    monkeypatch.setattr(identity, "EDGE", 10)
    file = tmp_path / "weights"
    file.write_bytes(bytes(100))
    os.utime(file, ns=(5, 5))
    first = identity.files(file)
    assert identity.files(file) == first
    for data, stamp in ((bytes(100), 6), (b"1" + bytes(99), 5), (bytes(99) + b"1", 5)):
        file.write_bytes(data)
        os.utime(file, ns=(stamp, stamp))
        assert identity.files(file) != first


def test_old_and_too_much_work_goes_but_never_what_is_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(letter: str, age: float) -> Path:
        place = tmp_path / (letter * 32)
        place.mkdir()
        (place / "program").write_bytes(bytes(1000))
        os.utime(place, (time.time() - age,) * 2)
        return place

    new, older, oldest = make("a", 10), make("b", 20), make("c", 30)
    expired, foreign = make("d", folder.MAX_AGE + 60), tmp_path / "holiday"
    foreign.mkdir()
    monkeypatch.setattr(folder, "MAX_BYTES", 2500)
    with folder.locked(tmp_path, "e" * 32) as mine:
        assert mine is not None
        assert sorted(tmp_path.iterdir()) == sorted([new, older, mine, foreign])
        with folder.locked(tmp_path, "e" * 32) as second:
            assert second is None
        monkeypatch.setattr(folder, "MAX_BYTES", 0)
        folder.clean(tmp_path, "a" * 32)
        assert sorted(tmp_path.iterdir()) == sorted([new, mine, foreign])
    assert not oldest.exists()
    assert not expired.exists()


def test_work_that_cannot_be_kept_is_a_note_and_no_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Work(tmp_path / "gone").keep("x", {}, {"x": b"1"})
    assert "x can't be kept for a later export" in capsys.readouterr().err
    file = tmp_path / "file"
    file.write_text("")
    with Keeping(file).work({}) as work:
        work.keep("x", {}, {"x": b"1"})
        assert work.load("x") is None
    assert "results can't be kept in" in capsys.readouterr().err
