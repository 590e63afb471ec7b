"""``python -m nearside_export`` is the same as ``nearside-export``."""

import sys

from nearside_export.cli import main

sys.exit(main())
