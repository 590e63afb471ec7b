"""The command line ``nearside-export``: a parser; each command is a file of ``commands/``.

Exit codes: 0 done, 1 the work failed, 2 usage, 130 interrupted. Messages go to stderr.
"""

from __future__ import annotations

import argparse
import logging
import sys
import warnings

from nearside_export.commands import COMMANDS
from nearside_export.errors import ExportError

INTERRUPTED = 130
"""128 and the number of SIGINT, as shells have it."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options = _parser().parse_args(arguments)
    # PyTorch's and ExecuTorch's own deprecation notes are nothing a user can act on.
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    try:
        options.run(options)
    except ExportError as error:
        print(f"nearside-export: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("nearside-export: interrupted; nothing was written", file=sys.stderr)
        return INTERRUPTED
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="nearside-export",
        description="PyTorch models to Nearside packages whose quality was measured.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    return parser
