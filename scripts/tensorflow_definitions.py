"""Writes `moir/frontends/tensorflow/definition_table.py`: what TensorFlow says of the nodes that moir reads.

    python -m scripts.tensorflow_definitions

It needs the installed `tensorflow`. `tests/unit/frontends/tensorflow/test_definitions.py` compares the table with it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from scripts.rows import grouped_rows

ROOT = Path(__file__).parents[1]
FILE = ROOT / "moir" / "frontends" / "tensorflow" / "definition_table.py"
PLACES = ("frontends", "raising", "lowering")

HEADER = '''"""TensorFlow's definitions of the nodes that moir reads; `python -m scripts.tensorflow_definitions` writes it."""

from moir.support.tables import by_member

DEFINITIONS = by_member(
    {
'''


def kinds() -> set[str]:
    """The words in moir's files for TensorFlow, among which are the kinds that it reads.

    Not those with an underscore in front, which TensorFlow defines anew with its releases.
    """
    files = (path for place in PLACES for path in (ROOT / "moir" / place / "tensorflow").rglob("*.py") if path != FILE)
    return {word for path in files for word in re.findall(r"\b[A-Z]\w+", path.read_text(encoding="utf-8"))}


def _length(arguments: Iterable[Any], minima: dict[str, int]) -> str:
    """How many operands or results there are: a number, and the attributes that lists have the length of."""
    single, lists = 0, list[str]()
    for each in arguments:
        if attribute := each.number_attr or each.type_list_attr:
            lists.append(f"{attribute}>={minima.get(attribute, 0)}")
        else:
            single += 1
    return " ".join([str(single), *lists])


OF_FRONTEND = re.compile(r"(list\()?(type|shape|tensor|func)\b")
"""The types of attributes that the frontend itself reads, where a node needs them."""


def definition(op: Any) -> str:
    """The row of an OpDef: operands, results, and the attributes that a node has to have."""
    minima = {each.name: each.minimum for each in op.attr if each.has_minimum}
    lengths = {name for each in op.input_arg for name in (each.number_attr, each.type_list_attr)}
    needed = [each for each in op.attr if not each.HasField("default_value") and each.name not in lengths]
    required = [f"{each.name}:{each.type}" for each in needed if not OF_FRONTEND.match(each.type)]
    return "; ".join([_length(op.input_arg, minima), _length(op.output_arg, minima), " ".join(required)]).rstrip("; ")


def table() -> dict[str, str]:
    """The rows of all kinds that moir reads and TensorFlow defines."""
    registry: Any = import_module("tensorflow.python.framework.op_def_registry")
    definitions = {kind: registry.get(kind) for kind in sorted(kinds())}
    return {kind: definition(op) for kind, op in definitions.items() if op is not None}


def text() -> str:
    """The content of the file."""
    return HEADER + grouped_rows(table()) + "    }\n)\n"


def main() -> int:
    """Write the file."""
    FILE.write_text(text(), encoding="utf-8")
    return subprocess.call([sys.executable, "-m", "ruff", "format", "-q", FILE])


if __name__ == "__main__":
    sys.exit(main())
