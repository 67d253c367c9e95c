"""`deduplicate`: equal operations on equal operands, and equal constants, are merged.

    %1 = opset1.Relu(%0)
    %2 = opset1.Relu(%0)
    %3 = opset1.Concat(%1, %2) {axis = 0}
->  %1 = opset1.Relu(%0)
    %3 = opset1.Concat(%1, %1) {axis = 0}
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from moir.analysis.analyses import Analyses
from moir.dialects.locations import located, merged
from moir.dialects.names import Additions, add_names, inherit_names
from moir.dialects.opset.interfaces.operation import is_pure
from moir.rewriting.dead_code import erase
from moir.rewriting.events import RECORDING
from moir.rewriting.reporting_pass import ReportingPass

_FEW = 8
"""The largest number of operations of one class with the same operands that are compared pairwise."""


class DeduplicatePass(ReportingPass):
    """Eliminates common subexpressions within each block.

    Operations with bodies or effects and operations with random results are kept.
    """

    name = "deduplicate"

    KEEPS_DIMENSIONS = True

    # Changes of properties in place affect equal operations alike, so they hardly ever create new duplicates.
    DEPENDS_ON_PROPERTIES = False

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        changed = [deduplicate(operations) for _, operations in analyses.contents]
        return any(changed)


def deduplicate(operations: Iterable[Operation]) -> bool:
    """Replace each operation of a block that equals an earlier one by that; returns whether any was replaced."""
    changed = False
    alike: dict[Hashable, list[Operation]] = {}
    names: Additions = {}
    recording = RECORDING.get()
    for op in operations:
        if op.regions or not is_pure(type(op)):
            continue
        operands = tuple(map(id, op.operands))
        # Hashing attributes and types is slow, and few operations of a class have the same operands, so these alone are
        # the key.
        key = (type(op), operands or tuple(op.properties.values()))
        others = alike.setdefault(key, [])
        earlier = next((each for each in others if _are_equal(each, op)), None) if others else None
        if earlier is None and len(others) >= _FEW:
            others = alike.setdefault((*key, frozenset(op.properties.items()), *(result.type for result in op.results)), [])
            earlier = others[0] if others else None
        if earlier is None:
            others.append(op)
            continue
        if recording is not None and recording.is_exhausted:
            break
        changed = True
        if recording is not None:
            recording.replaced("deduplicate", [op], [earlier])
        inherit_names(op, earlier.results, names)
        earlier.location = merged([located(earlier), located(op)])
        for result, replacement in zip(op.results, earlier.results, strict=True):
            result.replace_all_uses_with(replacement)
        erase(op)
    add_names(names)
    return changed


def _are_equal(a: Operation, b: Operation) -> bool:
    """Whether two operations of one class on the same operands are equal."""
    return a.properties == b.properties and [result.type for result in a.results] == [result.type for result in b.results]
