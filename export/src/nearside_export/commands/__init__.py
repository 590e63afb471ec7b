"""The commands of ``nearside-export``, one file each.

A command has ``add(commands)``, which adds its parser to the subparsers and sets ``run``. What
takes seconds to import (torch) is imported when a command runs: a typing error should not have to
wait for it.
"""

from nearside_export.commands import (
    classify,
    compare,
    describe,
    embed,
    fixtures,
    generate,
    media,
    operators,
    tiny,
    verify,
)

COMMANDS = (classify, embed, generate, describe, verify, compare, tiny, fixtures, media, operators)
"""In the order of the help."""
