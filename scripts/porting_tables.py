"""Writes the tables of `docs/model-optimizer-names.md`: the modules of Model Optimizer, and the operations.

    python -m scripts.porting_tables

They are those of `moir.model_optimizer.former_modules` and `moir.model_optimizer.api.operations`.
`tests/unit/test_documentation.py` compares.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from moir.model_optimizer.api.operations import descriptions
from moir.model_optimizer.former_modules import RENAMED, SOURCES

FILE = Path(__file__).parents[1] / "docs" / "model-optimizer-names.md"

HEADER = "| module | names |\n| --- | --- |\n"

OWN = frozenset(
    (
        "StandIn",
        "StandInPlace",
        "DescribedGraph",
        "built_in",
        "by_id",
        "configured_descriptions",
        "connect_embedded_inputs",
        "create_constant",
        "create_node",
        "descriptions_of",
        "in_scope",
        "is_class_name",
        "load_configuration",
        "logger",
        "masked_shape",
        "masked_value",
        "out_port_of",
        "parse_configuration",
        "places",
        "read_configuration",
        "registration",
        "report_no_match",
        "symbolic_value",
        "type_shape",
    )
)
"""Names in the modules that are moir's own."""

CONSTANTS = frozenset(("SUPPORTED_DATA_TYPES",))
"""Names in capital letters that Model Optimizer had."""


def names_of(source: str) -> list[str]:
    """The names of Model Optimizer in a module of moir, in its order."""
    module = importlib.import_module(source)
    legacy = {ours: theirs for theirs, ours in RENAMED.items()}
    names = list(getattr(module, "__all__", ())) or list(_defined(ast.parse(inspect.getsource(module))))
    return [legacy.get(name, name) for name in dict.fromkeys(names) if not name.startswith("_") and name not in OWN]


def _defined(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name) and (target.id.islower() or target.id in CONSTANTS or _is_anchor(node.value)):
                    yield target.id


def _is_anchor(value: ast.expr | None) -> bool:
    """Whether a value is a class that is made: `_anchor(…)`."""
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "_anchor"


def modules_table() -> str:
    """The table of modules: a row for those that have the same names."""
    modules: dict[tuple[str, ...], list[str]] = {}
    for name, sources in SOURCES.items():
        modules.setdefault(sources, []).append(name)
    rows = [
        f"| {_listed(names)} | {_listed(dict.fromkeys(each for source in sources for each in names_of(source)))} |\n"
        for sources, names in modules.items()
    ]
    return HEADER + "".join(rows)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def operations_paragraph() -> str:
    """The list of operations."""
    return textwrap.fill(", ".join(sorted(descriptions())), 120) + "\n"


def with_tables(text: str) -> str:
    """The text of the document with both tables."""
    head, _, rest = text.partition(HEADER)
    _, separator, tail = rest.partition("\n\n")
    text = f"{head}{modules_table()}\n{tail}" if separator else text
    head, heading, tail = text.partition("## Operations\n")
    introduction = tail.rpartition("\n\n")[0]
    return f"{head}{heading}{introduction}\n\n{operations_paragraph()}"


if __name__ == "__main__":
    FILE.write_text(with_tables(FILE.read_text(encoding="utf-8")), encoding="utf-8")
