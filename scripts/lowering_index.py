"""Writes `index.py` of each package of lowerings: the kinds that each of its files registers; and the index of traits.

    python -m scripts.lowering_index

Handlers are written once, with the kinds they are for; the index lets a conversion import only the files that its
model needs. `moir/frameworks/trait_index.py` has the kinds that are registered with each trait.
`tests/unit/lowering/test_index.py` compares the files with what is registered.
"""

from __future__ import annotations

import inspect
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping
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


TRAITS = ROOT / "moir" / "frameworks" / "trait_index.py"

HEADER_OF_TRAITS = '''"""The kinds that have each trait; `python -m scripts.lowering_index` writes it."""

INDEX: dict[str, dict[str, str]] = '''


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
    return _formatted(f"{HEADER}{_dictionary(kinds)}\n")


def text_of_traits(kinds: Mapping[str, Mapping[str, set[str]]]) -> str:
    """The text of the index of traits, from the kinds with each trait by the name of the dialect."""
    lines = [f'    "{dialect}": {_dictionary(by_trait)},' for dialect, by_trait in sorted(kinds.items())]
    return _formatted(f"{HEADER_OF_TRAITS}{{\n{chr(10).join(lines)}\n}}\n")


def _dictionary(names: Mapping[str, set[str]]) -> str:
    """The source of a dictionary of texts, each of names with spaces between them."""
    lines: list[str] = []
    for key, words in sorted(names.items()):
        line = f'    "{key}": "{" ".join(sorted(words))}",'
        *rows, last = textwrap.wrap(" ".join(sorted(words)), 120)
        if len(line) > 130:
            lines += [f'    "{key}": (', *(f'        "{row} "' for row in rows), f'        "{last}"', "    ),"]
        else:
            lines.append(line)
    return f"{{\n{chr(10).join(lines)}\n}}"


def _formatted(source: str) -> str:
    command = [sys.executable, "-m", "ruff", "format", "--quiet", "--stdin-filename", "index.py", "-"]
    return subprocess.run(command, cwd=ROOT, input=source, capture_output=True, text=True, check=True).stdout


def traits(tables: Iterable[LoweringTable]) -> dict[str, dict[str, set[str]]]:
    """The kinds with each trait, by the name of the dialect; dialects without traits are left out."""
    by_dialect: dict[str, dict[str, set[str]]] = {}
    for table in tables:
        for kind in table.kinds():
            for trait in table.traits(kind):
                by_dialect.setdefault(table.framework, {}).setdefault(trait, set()).add(kind)
    return by_dialect


def texts() -> dict[Path, str]:
    """The text of each index, and of that of the traits, by its path."""
    paths = {package: ROOT.joinpath(*package.split("."), "index.py") for package in packages()}
    indexes = {paths[package]: text(registered(table)) for package, table in packages().items()}
    return {**indexes, TRAITS: text_of_traits(traits(packages().values()))}


if __name__ == "__main__":
    for path, content in texts().items():
        path.write_text(content, encoding="utf-8")
