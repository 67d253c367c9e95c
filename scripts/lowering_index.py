"""Writes `index.py` of each package of lowerings: the kinds that each of its files registers.

    python -m scripts.lowering_index

Handlers are written once, with the kinds they are for; the index lets a conversion import only the files that its
model needs. `tests/unit/lowering/test_index.py` compares the files with what is registered.
"""

from __future__ import annotations

import inspect
import subprocess
import sys
import textwrap
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from moir.frameworks import lowering_records
from moir.lowering.driver import table_of
from moir.lowering.table import LoweringTable
from moir.lowering.to_onnx.table import opset as to_onnx

ROOT = Path(__file__).parents[1]

HEADER = '''"""The kinds that each file of this package lowers; `python -m scripts.lowering_index` writes it."""

INDEX: dict[str, str] = '''


def packages() -> dict[str, LoweringTable]:
    """The tables with a package of their own, by the name of the package."""
    tables = [*(table_of(each) for each in lowering_records()), to_onnx]
    return {each.package: each for each in tables if each.package is not None}


def registered(table: LoweringTable) -> dict[str, set[str]]:
    """The kinds that each file of a table's package registers, by the name of the file within the package.

    All files are imported. Meant for a fresh process: what was imported before is not seen.
    """
    package = table.package
    assert package is not None
    registered_kinds: dict[str, set[str]] = {}
    register = table.lowers

    def recorded(*kinds: str, **known: Any) -> Callable[..., Any]:
        # A table may register through a function of its own file.
        callers = (str(caller.frame.f_globals["__name__"]) for caller in inspect.stack(0))
        file = next(each for each in callers if each.startswith(f"{package}.") and each != type(table).__module__)
        registered_kinds.setdefault(file.removeprefix(f"{package}."), set()).update(kinds)
        return register(*kinds, **known)

    vars(table)["lowers"] = recorded
    try:
        folder = ROOT.joinpath(*package.split("."))
        for path in sorted(folder.rglob("*.py")):
            name = ".".join(path.relative_to(folder).with_suffix("").parts)
            if path.stem not in ("__init__", "index"):
                import_module(f"{package}.{name}")
    finally:
        del vars(table)["lowers"]
    return registered_kinds


def text(kinds: dict[str, set[str]]) -> str:
    """The text of the index of a package."""
    lines: list[str] = []
    for file, names in sorted(kinds.items()):
        line = f'    "{file}": "{" ".join(sorted(names))}",'
        *rows, last = textwrap.wrap(" ".join(sorted(names)), 120)
        if len(line) > 130:
            lines += [f'    "{file}": (', *(f'        "{row} "' for row in rows), f'        "{last}"', "    ),"]
        else:
            lines.append(line)
    written = f"{HEADER}{{\n{chr(10).join(lines)}\n}}\n"
    command = [sys.executable, "-m", "ruff", "format", "--quiet", "--stdin-filename", "index.py", "-"]
    return subprocess.run(command, cwd=ROOT, input=written, capture_output=True, text=True, check=True).stdout


def texts() -> dict[Path, str]:
    """The text of each index, by its path."""
    paths = {package: ROOT.joinpath(*package.split("."), "index.py") for package in packages()}
    return {paths[package]: text(registered(table)) for package, table in packages().items()}


if __name__ == "__main__":
    for path, content in texts().items():
        path.write_text(content, encoding="utf-8")
