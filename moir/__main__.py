"""`python -m moir` is the command `moir`."""

from __future__ import annotations

import sys

from moir.tools.convert import main

if __name__ == "__main__":
    sys.exit(main())
