"""What an export says: bars on a terminal, lines elsewhere, nothing when it is to be quiet."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import termios
from collections.abc import Iterator

import pytest

from nearside_export import progress


@pytest.fixture(autouse=True)
def _loud_again() -> Iterator[None]:
    yield
    progress.quiet(False)


def export() -> list[int]:
    with progress.stage("tiny", "measure"):
        done = list(progress.track(range(3), 3, "windows"))
        progress.say("a note")
    return done


def read_all(terminal: int) -> str:
    os.set_blocking(terminal, False)
    read = b""
    with contextlib.suppress(BlockingIOError):
        while part := os.read(terminal, 4096):
            read += part
    return read.decode()


def test_without_a_terminal_stages_are_lines_with_their_seconds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert export() == [0, 1, 2]
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == ["tiny: measure", "a note"]
    assert re.fullmatch(r"tiny: measure took \d+\.\d s", lines[2])
    assert len(lines) == 3


def test_a_long_loop_says_where_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    assert list(progress.track("abc", 3, "layers")) == ["a", "b", "c"]
    assert "layers: 2 of 3 done, 0 s" in capsys.readouterr().err.splitlines()


def test_a_terminal_shows_bars_and_keeps_the_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 100))
    with os.fdopen(slave, "w") as terminal:
        monkeypatch.setattr("sys.stderr", terminal)
        assert export() == [0, 1, 2]
        terminal.flush()
        shown = read_all(master)
    os.close(master)
    assert "tiny: measure |" in shown
    assert "stage 5 of 6 [" in shown
    assert "windows:   0%" in shown
    assert "a note\r\n" in shown
    assert re.search(r"tiny: measure took \d+\.\d s\r\n", shown)


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    progress.quiet(True)
    assert export() == [0, 1, 2]
    assert capsys.readouterr().err == ""


def test_a_failing_stage_fails_as_it_did(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError), progress.stage("tiny", "lower"):
        _ = 1 / 0
    assert "took" not in capsys.readouterr().err
