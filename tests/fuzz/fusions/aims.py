"""Graphs around what each transformation of the runtime looks for, with near misses that it must not take."""

from __future__ import annotations

from fnmatch import fnmatch

from tests.fuzz.case import Case
from tests.fuzz.draw import Draw, NoCase
from tests.fuzz.fusions.combinations import appended, begun, drawn_kind, residual, restore, used_again
from tests.fuzz.fusions.draft import Draft, Value
from tests.fuzz.fusions.transformations import TRANSFORMATIONS

TRIES = 4
"""Kinds that are tried at one place of a row before the graph is given up."""


def aimed(draw: Draw, only: str = "*") -> Case:
    """A graph for a transformation whose name matches a glob."""
    name = draw.subject([name for name in TRANSFORMATIONS if fnmatch(name, only)])
    row = draw.one_of(TRANSFORMATIONS[name])
    d, x = begun(draw)
    if draw.chance(0.35):
        _, x = appended(d, x)
    values = [x]
    for place, glob in enumerate(row):
        x = placed(d, x, glob)
        values.append(x)
        last = place == len(row) - 1
        if draw.chance(0.1):
            d.outputs.append(x)
        if draw.chance(0.1):
            used_again(d, x)
        if draw.chance(0.06) and not last:
            # Something between the operations of the row.
            _, x = appended(d, x, families={"activation": 1.0, "movement": 1.0, "arithmetic": 1.0})
        if draw.chance(0.12) and place:
            x = residual(d, x, values)
    if draw.chance(0.35):
        d.outputs.extend([x] if draw.chance(0.2) else [])
        _, x = appended(d, x)
    d.outputs.append(x)
    return d.case(name)


def placed(d: Draft, x: Value, glob: str) -> Value:
    """Append an operation of a place of a row. Raises NoCase if none applies."""
    families = {glob[1:]: 1.0} if glob.startswith("@") else None
    pattern = "*" if glob.startswith("@") or glob == "?" else glob
    for _ in range(TRIES):
        state = len(d.nodes), len(d.values), set(d.inputs), set(d.constants)
        try:
            result = drawn_kind(d.draw, pattern, families).apply(d, x)
        except NoCase:
            restore(d, state)
            continue
        if result not in d.values:
            d.values.append(result)
        return result
    raise NoCase(f"no {glob} applies")
