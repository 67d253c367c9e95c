"""Writes `moir/inspection/operations/microsoft_kinds.py`: the operations of the domain com.microsoft.

    python -m scripts.microsoft_kinds

They are those that the installed `onnxruntime` defines. `tests/unit/inspection/test_operations.py` compares the file
with them.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[1] / "moir" / "inspection" / "operations" / "microsoft_kinds.py"

DOMAIN = "com.microsoft"


def kinds() -> list[str]:
    """The operations of the domain in alphabetical order, without the domain."""
    schemas: Iterable[Any] = import_module("onnxruntime.capi.onnxruntime_pybind11_state").get_all_operator_schema()
    return sorted({schema.name for schema in schemas if schema.domain == DOMAIN})


def text() -> str:
    """The text of the file."""
    lines = "\n".join(f"    {line}" for line in textwrap.wrap(" ".join(kinds()), 116))
    return (
        '"""The operations of the domain com.microsoft; `python -m scripts.microsoft_kinds` writes this file."""\n\n'
        f'KINDS = """\n{lines}\n"""\n'
    )


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    sys.exit(subprocess.call([sys.executable, "-m", "ruff", "format", "-q", FILE]))
