"""`python -m moir` is the command `moir`."""

from __future__ import annotations

from moir.tools.convert import command

if __name__ == "__main__":
    command()
