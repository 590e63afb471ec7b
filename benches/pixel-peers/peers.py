"""The contenders of libnearside_pixel_peers, called through ctypes."""

import ctypes
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Task = dict[str, Any]

NAMES = {"darwin": "libnearside_pixel_peers.dylib", "win32": "nearside_pixel_peers.dll"}


class NotRunError(Exception):
    """A contender can't do what was asked, and why."""


class Peers:
    """The library."""

    def __init__(self, folder: Path) -> None:
        """Open the library that Cargo put into `folder`."""
        library = ctypes.CDLL(str(folder / NAMES.get(sys.platform, "libnearside_pixel_peers.so")))
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        library.pixel_peers_error.restype = ctypes.c_char_p
        library.pixel_peers_new.restype = pointer
        library.pixel_peers_new.argtypes = [ctypes.c_char_p]
        library.pixel_peers_output_bytes.restype = size
        library.pixel_peers_output_bytes.argtypes = [pointer]
        library.pixel_peers_run.restype = ctypes.c_int32
        library.pixel_peers_run.argtypes = [pointer, pointer, size, pointer, size]
        library.pixel_peers_free.argtypes = [pointer]
        self.library = library

    def problem(self) -> NotRunError:
        """Return why the last call failed."""
        return NotRunError(self.library.pixel_peers_error().decode())

    def contender(self, task: Task) -> "Contender":
        """Make a contender; raise NotRunError if it can't do this."""
        handle = self.library.pixel_peers_new(json.dumps(task).encode())
        if not handle:
            raise self.problem()
        return Contender(self, handle)

    def result(self, task: Task, frame: Bytes) -> Bytes:
        """Run a contender once and return its bytes."""
        contender = self.contender(task)
        out = np.zeros(contender.output_bytes, np.uint8)
        contender.bind(frame, out)()
        return out


class Contender:
    """One contender with its task."""

    def __init__(self, peers: Peers, handle: int) -> None:
        """Take over the handle."""
        self.peers = peers
        self.handle = handle
        self.output_bytes = int(peers.library.pixel_peers_output_bytes(handle))

    def bind(self, frame: Bytes, out: NDArray[Any]) -> Callable[[], None]:
        """Return a function that runs it on this frame into this output, as fast as ctypes can."""
        assert frame.flags.c_contiguous
        assert out.flags.c_contiguous
        assert out.nbytes >= self.output_bytes
        call = self.peers.library.pixel_peers_run
        handle, source, target = self.handle, frame.ctypes.data, out.ctypes.data
        source_bytes, target_bytes = frame.nbytes, self.output_bytes

        def run() -> None:
            if call(handle, source, source_bytes, target, target_bytes):
                raise self.peers.problem()

        # Keep what the addresses belong to.
        run.buffers = (self, frame, out)  # type: ignore[attr-defined]
        return run

    def __del__(self) -> None:
        """Free the handle."""
        self.peers.library.pixel_peers_free(self.handle)
