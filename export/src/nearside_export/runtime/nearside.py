"""Run programs by Nearside's own runtime: the ``nearside`` command in a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from nearside_export.errors import ExportError, MethodError
from nearside_export.runtime import Array
from nearside_export.runtime.tensors import decode, encode

ENVIRONMENT = "NEARSIDE_CLI"


def command(given: Path | None = None) -> Path:
    """Find ``nearside``: as given, else by the environment's ``NEARSIDE_CLI``, else on the PATH."""
    named = given or (Path(os.environ[ENVIRONMENT]) if os.environ.get(ENVIRONMENT) else None)
    found = shutil.which("nearside" if named is None else str(named))
    if found is None:
        where = "on the PATH" if named is None else f"at {named}"
        raise ExportError(
            f"the command `nearside` was not found {where}; build it with `cargo build --release "
            f"-p nearside-cli` and give target/release/nearside with --nearside or {ENVIRONMENT}"
        )
    return Path(found)


@dataclass(frozen=True)
class MethodReport:
    """What the calls of a method took; times in milliseconds, ``None`` without calls."""

    name: str
    load_ms: float
    calls: int
    first_ms: float | None
    min_ms: float | None
    median_ms: float | None
    total_ms: float


@dataclass(frozen=True)
class Report:
    """What a program took.

    Resident memory of its process in bytes, ``None`` where the system does not tell: before
    anything was loaded, at most until now, and at most since the latest method was loaded.
    """

    threads: int
    methods: list[MethodReport]
    start_bytes: int | None
    peak_bytes: int | None
    calls_peak_bytes: int | None


class Program:
    """A program or package in a process of its own; use it in ``with``, or ``close`` it.

    ``source``: a ``.pte``, its bytes, or the folder of a package. ``data``: the ``.ptd`` files of a
    ``.pte``. ``share``: methods that share their state, if they were exported so. Others have their
    own. ``delegate_options``: as ``DELEGATE.OPTION=VALUE``. ``cli``: the ``nearside`` command,
    if not that of `command`.
    """

    def __init__(
        self,
        source: Path | bytes,
        data: Sequence[Path] = (),
        *,
        variant: str | None = None,
        share: Sequence[str] = (),
        threads: int | None = None,
        delegate_options: Sequence[str] = (),
        cli: Path | None = None,
    ) -> None:
        tool = command(cli)
        self._folder = tempfile.TemporaryDirectory(prefix="nearside-")
        folder = Path(self._folder.name)
        if isinstance(source, bytes):
            program = folder / "program.pte"
            program.write_bytes(source)
        else:
            program = source
        options = [f"--data={path}" for path in data]
        options += [f"--delegate-option={option}" for option in delegate_options]
        if share:
            options.append(f"--share={','.join(share)}")
        if variant is not None:
            options.append(f"--variant={variant}")
        if threads is not None:
            options.append(f"--threads={threads}")
        # Not a pipe, which would fill up unless it was read.
        self._said = (folder / "stderr").open("w+b")
        self._process = subprocess.Popen(
            [str(tool), "call", "--stream", *options, "--", str(program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def method(self, name: str = "forward") -> LoadedMethod:
        """Return a method; it is loaded when it is first run."""
        return LoadedMethod(self, name)

    def reset(self) -> None:
        """Bring what all methods keep between runs back to what they begin with."""
        self.ask([], {"do": "reset"})

    def report(self) -> Report:
        """Say what loading and running took so far."""
        _, facts = self.ask([], {"do": "report"})
        found: dict[str, Any] = json.loads(facts["report"])
        fields = MethodReport.__dataclass_fields__
        methods = [MethodReport(**{key: m[key] for key in fields}) for m in found["methods"]]
        return Report(threads=found["threads"], methods=methods, **found["memory"])

    def ask(
        self, arrays: Sequence[Array], facts: Mapping[str, str]
    ) -> tuple[list[Array], dict[str, str]]:
        """Send one document and return what came back; see docs/cli.md.

        Raises ``MethodError`` if that was an error, or if the process ended.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None or stdin.closed:
            raise MethodError("the program was closed")
        request = encode(arrays, facts)
        try:
            stdin.write(request)
            stdin.flush()
            answer, told = decode(stdout)
        except (OSError, EOFError) as error:
            raise MethodError(self._ended()) from error
        if "error" in told:
            raise MethodError(f"{told['error']}. Hint: {told['hint']}")
        return answer, told

    def close(self) -> None:
        """End the process; a program that was closed can't be run."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            with suppress(OSError):  # It may have ended already.
                self._process.stdin.close()
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._process.wait()
            self._said.close()
            self._folder.cleanup()

    def _ended(self) -> str:
        code = self._process.wait()
        self._said.seek(0)
        said = self._said.read().decode(errors="replace").strip()
        return f"`nearside call` ended with {code}: {said or 'it said nothing'}"


class LoadedMethod:
    """One method of a `Program`; a `RunnableMethod`."""

    def __init__(self, program: Program, name: str) -> None:
        self.name = name
        self.calls_ms: list[float] = []
        self._program = program

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        """Execute once; see `RunnableMethod.run`."""
        outputs, facts = self._program.ask(inputs, {"method": self.name})
        self.calls_ms.append(float(facts["ms"]))
        return outputs

    def reset(self) -> None:
        """Begin afresh, with those that share the state; see `RunnableMethod.reset`."""
        self._program.ask([], {"do": "reset", "method": self.name})
