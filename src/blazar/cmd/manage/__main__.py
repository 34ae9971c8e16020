"""``python -m blazar.cmd.manage``."""

from __future__ import annotations

import sys

from blazar.cmd.manage import main

if __name__ == "__main__":
    sys.exit(main())
