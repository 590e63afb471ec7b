"""The command line ``nearside-export``: a parser; each command is a file of ``commands/``.

Exit codes: 0 done, 1 the work failed, 2 usage, 130 interrupted, 143 terminated. Messages go to
stderr.
"""

from __future__ import annotations

import argparse
import logging
import signal
import sys
import threading
import warnings

from nearside_export import progress
from nearside_export.commands import COMMANDS
from nearside_export.errors import ExportError

INTERRUPTED = 130
TERMINATED = 143
"""128 and the number of SIGINT and SIGTERM, as shells have it."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options = _parser().parse_args(arguments)
    # PyTorch's and ExecuTorch's own deprecation notes are nothing a user can act on.
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    progress.quiet(getattr(options, "quiet", False))
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)
    try:
        options.run(options)
    except ExportError as error:
        print(f"nearside-export: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("nearside-export: interrupted; nothing was written", file=sys.stderr)
        return INTERRUPTED
    except _Terminated:
        print("nearside-export: terminated; nothing was written", file=sys.stderr)
        return TERMINATED
    finally:
        progress.quiet(False)
    return 0


class _Terminated(BaseException):
    """SIGTERM came: unwinds like Ctrl-C, so that temporary folders go."""


def _terminate(_signal: int, _frame: object) -> None:
    raise _Terminated


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="nearside-export",
        description="PyTorch models to Nearside packages whose quality was measured.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    return parser
