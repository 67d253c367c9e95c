"""Writes `moir/raising/pytorch/overloads.py`: the overloads of aten that write, with those that compute it.

    python -m scripts.torch_overloads

It needs an installed `torch`, which moir itself does not. An overload `out` or one in place is listed if moir lowers
another overload of the operator that has the same arguments but the written ones.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Set
from importlib import import_module
from pathlib import Path
from typing import Any

from moir.lowering.pytorch.index import INDEX
from moir.support.tables import by_member
from scripts.rows import quoted

FILE = Path(__file__).parents[1] / "moir" / "raising" / "pytorch" / "overloads.py"

HEADER = '''"""Overloads of aten that write, and those that compute the values; `python -m scripts.torch_overloads` writes it.

A key has two names of overloads, a value the operators that have both: "Tensor_out Tensor": "gt" stands for
`gt.Tensor_out`, which writes the result of `gt.Tensor`.
"""

'''

_SHAPING = frozenset(("t", "squeeze", "unsqueeze", "swapaxes", "swapdims", "transpose", "as_strided", "detach"))
"""Operators that change in place how a tensor is viewed, and write none of its elements."""

_OF_TENSORS = frozenset(("dtype", "layout", "device", "pin_memory"))
"""Arguments of operators that make a tensor; those of the tensor that they write are its own."""

Groups = dict[tuple[str, str], list[str]]


def _schemas() -> dict[str, dict[str, Any]]:
    """The schemas of aten: operator -> overload -> schema."""
    schemas: dict[str, dict[str, Any]] = {}
    torch: Any = import_module("torch")
    for schema in torch._C._jit_get_all_schemas():
        if schema.name.startswith("aten::"):
            schemas.setdefault(schema.name.removeprefix("aten::"), {})[schema.overload_name or "default"] = schema
    return schemas


def _written(schema: Any) -> list[str]:
    return [each.name for each in schema.arguments if each.alias_info is not None and each.alias_info.is_write]


def _arguments(schema: Any, left_out: Set[str] = frozenset()) -> list[tuple[str, str]]:
    return [(each.name, str(each.type)) for each in schema.arguments if each.name not in left_out]


def _lowered(
    kinds: set[str], operator: str, overloads: dict[str, Any], wanted: list[tuple[str, str]], ignored: Set[str] = frozenset()
) -> str | None:
    """The overload of an operator that writes nothing, has these arguments and a lowering; None if there is none."""
    matches = (name for name, each in overloads.items() if not _written(each) and _arguments(each, ignored) == wanted)
    return next((name for name in matches if f"{operator}.{name}" in kinds), None)


def groups() -> tuple[Groups, Groups]:
    """The overloads in place and the overloads `out`, each with the overload that computes what it writes."""
    schemas, kinds = _schemas(), set(by_member(INDEX))
    in_place, out = Groups(), Groups()
    for operator, overloads in sorted(schemas.items()):
        for name, schema in sorted(overloads.items()):
            if {"running_mean", "training"} <= {each.name for each in schema.arguments}:
                # A normalization that also writes its statistics, which no schema says of `native_batch_norm`.
                continue
            results = [each.name for each in schema.arguments if each.is_out]
            if results and _written(schema) == results:
                plain = _lowered(kinds, operator, overloads, _arguments(schema, {*results}))
                plain = plain or _lowered(kinds, operator, overloads, _arguments(schema, {*results, *_OF_TENSORS}), _OF_TENSORS)
                if plain is not None:
                    out.setdefault((name, plain), []).append(operator)
            elif operator.endswith("_") and not operator.startswith("__") and _written(schema) == ["self"]:
                stem = operator[:-1]
                plain = _lowered(kinds, stem, schemas.get(stem, {}), _arguments(schema))
                if plain is not None and stem not in _SHAPING:
                    in_place.setdefault((name, plain), []).append(stem)
    return in_place, out


def _rows(name: str, described: str, table: Groups) -> Iterator[str]:
    yield f"{name}: dict[str, str] = {{\n"
    for (overload, plain), operators in sorted(table.items()):
        yield f"    {quoted(f'{overload} {plain}')}: {quoted(' '.join(operators), 120 - len(overload + plain))},\n"
    yield f'}}\n"""{described}"""\n\n'


def text() -> str:
    """The file."""
    in_place, out = groups()
    return HEADER + "".join(
        (
            *_rows("IN_PLACE", "Overloads that write to their first operand; their operators have an underscore at the end.", in_place),
            *_rows("OUT", "Overloads that write their results to their last operands.", out),
        )
    )


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    subprocess.run([sys.executable, "-m", "ruff", "format", "--quiet", str(FILE)], check=True)
