"""What an export says while it works, on stderr: stages, how long each took, bars inside long ones.

On a terminal a bar counts the stages and their seconds; elsewhere each stage is a line when it
begins and one when it ends. `quiet` silences all of it, never an error.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, TypeVar

if TYPE_CHECKING:
    from tqdm import tqdm

T = TypeVar("T")
Stage = Literal["load", "quantise", "export", "lower", "measure", "write"]

STAGES: tuple[Stage, ...] = ("load", "quantise", "export", "lower", "measure", "write")
"""In the order of an export; one that has nothing to quantise leaves that out."""

LINE_SECONDS = 10.0
"""Without a terminal, a loop says where it is this often."""

_TICK_SECONDS = 1.0
_quiet = False


def quiet(silent: bool) -> None:
    """Say nothing from now on, or speak again."""
    global _quiet
    _quiet = silent


def say(message: str) -> None:
    """Print ``message`` at once, above the bars if there are any."""
    if _quiet:
        return
    if _on_terminal():
        from tqdm import tqdm

        tqdm.write(message, file=sys.stderr)
    else:
        print(message, file=sys.stderr, flush=True)


@contextmanager
def stage(what: str, name: Stage) -> Iterator[None]:
    """Show that ``what`` is at the stage ``name`` while the block runs, then how long it took."""
    start = time.monotonic()
    if _quiet or not _on_terminal():
        say(f"{what}: {name}")
        yield
    else:
        with _stage_bar(what, name):
            yield
    say(f"{what}: {name} took {time.monotonic() - start:.1f} s")


def track(items: Iterable[T], total: int, what: str) -> Iterator[T]:
    """Give ``items``, of which there are ``total``, and show how many are done."""
    if _quiet:
        yield from items
    elif _on_terminal():
        from tqdm import tqdm

        yield from tqdm(items, what, total, leave=False, file=sys.stderr, dynamic_ncols=True)
    else:
        start = said = time.monotonic()
        for done, item in enumerate(items):
            now = time.monotonic()
            if now - said >= LINE_SECONDS:
                said = now
                say(f"{what}: {done} of {total} done, {now - start:.0f} s")
            yield item


@contextmanager
def _stage_bar(what: str, name: Stage) -> Iterator[None]:
    from tqdm import tqdm

    shape = "{desc} |{bar}| stage {n_fmt} of {total_fmt} [{elapsed}]"
    with tqdm(
        total=len(STAGES),
        initial=STAGES.index(name) + 1,
        desc=f"{what}: {name}",
        bar_format=shape,
        leave=False,
        file=sys.stderr,
        dynamic_ncols=True,
    ) as bar:
        done = threading.Event()
        # The work itself is one call into PyTorch: nobody else would count the seconds.
        ticker = threading.Thread(target=_tick, args=(bar, done), daemon=True)
        ticker.start()
        try:
            yield
        finally:
            done.set()
            ticker.join()


def _tick(bar: tqdm[None], done: threading.Event) -> None:
    while not done.wait(_TICK_SECONDS):
        bar.refresh()


def _on_terminal() -> bool:
    return sys.stderr.isatty()
