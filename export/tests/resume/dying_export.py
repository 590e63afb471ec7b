"""An export in a process of its own that dies by SIGKILL at a given point.

    python dying_export.py POINT ARGUMENTS…

POINT is ``keeping:NAME`` (half of the result NAME is written), ``replacing`` (the old package is
moved away, the new one not in its place yet) or ``never``.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import torch

from nearside_export import cli
from nearside_export.resume import container

torch.set_num_threads(1)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def main(point: str, arguments: list[str]) -> int:
    kind, _, name = point.partition(":")
    write, replace, fsync = container.write, Path.replace, os.fsync

    def dying_write(path: Path, *rest: object) -> None:
        if kind == "keeping" and path.name == name:
            os.fsync = lambda file: (os.truncate(file, 1000), fsync(file), die())
        write(path, *rest)

    def dying_replace(self: Path, target: Path) -> Path:
        if kind == "replacing" and target.name.endswith(".nearside") and self.name[0] == ".":
            assert not target.exists()
            die()
        return replace(self, target)

    container.write = dying_write
    Path.replace = dying_replace
    return cli.main(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
