"""Writes `moir/pipeline/pass_kinds.py`: the kinds of operations that each pass needs, asked of the passes.

    python -m scripts.pass_kinds

`tests/unit/pipeline/test_schedule.py` compares the file with the classes.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from moir.pipeline import load_pass, pass_modules
from moir.rewriting.reporting_pass import Needs, ReportingPass
from moir.target_records import form_modules

FILE = Path(__file__).parents[1] / "moir" / "pipeline" / "pass_kinds.py"

HEADER = '''"""The kinds of operations that passes need; generated from the passes by `python -m scripts.pass_kinds`.

A pass that is not listed may change any module.
"""

from __future__ import annotations

PASS_KINDS: dict[str, tuple[tuple[tuple[str, ...], ...], ...]] = '''

FOOTER = '''
"""Alternatives by the name of the pass: each is a list of sets of kinds, and a module needs a kind of each set."""
'''


def needs_by_pass() -> dict[str, Needs]:
    """The needs of all passes that do not change any module."""
    classes = {name: load_pass(name) for name in sorted((*pass_modules(), *form_modules()))}
    needs = {name: each.needs() for name, each in classes.items() if issubclass(each, ReportingPass)}
    return {name: each for name, each in needs.items() if each is not None}


def text() -> str:
    """The text of the file."""
    command = [sys.executable, "-m", "ruff", "format", "--quiet", "--stdin-filename", str(FILE), "-"]
    return subprocess.run(command, input=f"{HEADER}{needs_by_pass()!r}{FOOTER}", capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
