"""The comparison of two modules: matched operations, and the differences between them."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from xdsl.ir import Block, Operation, OpResult, SSAValue

from moir.dialects.interface import inputs_of, outputs_of
from moir.dialects.moir import PARAMETER, RESULT, models_of
from moir.dialects.names import name_of, names_of
from moir.difference.constants import changed_constant
from moir.difference.matching import Matching, attributes_of, constant_data, is_given
from moir.difference.records import Change, ChangedConstant, ChangedOperation, Difference, UnmatchedOperation
from moir.inspection.node import attribute_text, type_text
from moir.inspection.summary import roles

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Region


def compare(first: ModuleOp, second: ModuleOp, tolerance: float = 0.0) -> Difference:
    """The differences of two modules; neither module is changed.

    Args:
        first: a module.
        second: the other one.
        tolerance: constants are equal if they differ by at most this share of their largest element.
    """
    return compared(first, second, tolerance).result()


def compared(first: ModuleOp, second: ModuleOp, tolerance: float = 0.0) -> Comparison:
    """The comparison of two modules, with the pairs of operations that belong together; `first`, `second` and
    `tolerance` as in `compare`.
    """
    comparison = Comparison(tolerance)
    comparison.interfaces(first, second)
    for a, b in zip_longest(models_of(first), models_of(second)):
        if a is not None and b is not None:
            comparison.blocks(a.block, b.block, "")
        elif a is not None:
            comparison.removed.append(UnmatchedOperation(a.sym_name.data, a.name, ""))
        elif b is not None:
            comparison.added.append(UnmatchedOperation(b.sym_name.data, b.name, ""))
    return comparison


class Comparison:
    """The differences of two modules, and the pairs of operations that belong together.

    Attributes:
        pairs: the operations of the first module -> those of the second one.
        differing: for operations of the first module that have a partner, the differences between both.
    """

    def __init__(self, tolerance: float = 0.0) -> None:
        self._tolerance = tolerance
        self.pairs: dict[Operation, Operation] = {}
        self.differing: dict[Operation, tuple[Change, ...]] = {}
        self._interfaces: list[Change] = []
        self.removed: list[UnmatchedOperation] = []
        self.added: list[UnmatchedOperation] = []
        self._changed: list[ChangedOperation] = []
        self._constants: list[ChangedConstant] = []

    def result(self) -> Difference:
        """The differences of the two models."""
        return Difference(tuple(self._interfaces), tuple(self.removed), tuple(self.added), tuple(self._changed), tuple(self._constants))

    def interfaces(self, first: ModuleOp, second: ModuleOp) -> None:
        """Compare inputs and outputs, by their numbers."""
        for what, ports in (("input", inputs_of), ("output", outputs_of)):
            both = ([str(port) for model in models_of(module) for port in ports(model)] for module in (first, second))
            for index, (a, b) in enumerate(zip_longest(*both, fillvalue="")):
                if a != b:
                    self._interfaces.append(Change(f"{what} {index}", a, b))

    def blocks(self, first: Block, second: Block, around: str) -> None:
        """Compare two blocks, and the bodies of the operations in them that are matched."""
        matching = Matching(first, second)
        self.pairs |= matching.pairs
        self.removed.extend(UnmatchedOperation(label(op), op.name, around) for op in matching.first if op not in matching.pairs)
        self.added.extend(UnmatchedOperation(label(op), op.name, around) for op in matching.second if op not in matching.back)
        for op in matching.first:
            other = matching.pairs.get(op)
            if other is not None:
                self._operations(op, other, matching)

    def _operations(self, a: Operation, b: Operation, matching: Matching) -> None:
        x, y = constant_data(a), constant_data(b)
        if x is not None and y is not None:
            constant = changed_constant(label(a), x, y)
            if constant is not None and not constant.is_within(self._tolerance):
                self._constants.append(constant)
                self.differing[a] = (_change_of_constant(constant),)
            return
        changes = [] if a.name == b.name else [Change("kind", a.name, b.name)]
        changes += _attributes(a, b)
        if a.name not in (PARAMETER, RESULT):
            p, q = (None if is_given(op) else name_of(op) for op in (a, b))
            if p and q and p != q:
                changes.append(Change("name", p, q))
            for index, (p, q) in enumerate(zip_longest(map(type_text, a.results), map(type_text, b.results), fillvalue="")):
                if p != q:
                    changes.append(Change(f"type of result {index}", p, q))
        changes += _operands(a, b, matching)
        if changes:
            self._changed.append(ChangedOperation(label(a), a.name, tuple(changes)))
            self.differing[a] = tuple(changes)
        self._bodies(a, b)

    def _bodies(self, a: Operation, b: Operation) -> None:
        pairs: list[tuple[str, Region, Region]] = list(zip(roles(a), a.regions, b.regions, strict=False))
        for role, p, q in pairs:
            for first, second in zip(p.blocks, q.blocks, strict=False):
                self.blocks(first, second, f"{label(a)} ({role})")


def _change_of_constant(constant: ChangedConstant) -> Change:
    """The difference of the values of a constant in words: how many elements differ, and by how much."""
    if constant.elements is None:
        return Change("value", constant.before, constant.after)
    differ = "1 element differs" if constant.elements == 1 else f"{constant.elements} elements differ"
    largest = "" if constant.maximum is None else f", by {constant.maximum:.3g} at most"
    return Change("value", constant.before, f"{constant.after}: {differ}{largest}")


def label(op: Operation) -> str:
    """A text that designates an operation: its name, or the names of its tensors; without these, a description of its
    user.
    """
    name = name_of(op) or next((each for result in op.results for each in names_of(result)), "")
    if name:
        return name
    user = next((use for result in op.results for use in result.uses), None)
    return f"operand {user.index} of {name_of(user.operation) or user.operation.name}" if user is not None else ""


def _attributes(a: Operation, b: Operation) -> list[Change]:
    first, second = attributes_of(a), attributes_of(b)
    changes: list[Change] = []
    for name in dict.fromkeys((*first, *second)):
        x, y = first.get(name), second.get(name)
        if x != y:
            texts = ["" if each is None else attribute_text(each) for each in (x, y)]
            changes.append(Change(name, *texts))
    return changes


def _operands(a: Operation, b: Operation, matching: Matching) -> list[Change]:
    """A change for each operand whose producers in the two models do not belong together.

    A producer without a partner is reported by itself and does not count as a changed operand.
    """
    changes: list[Change] = []
    for index, (x, y) in enumerate(zip_longest(a.operands, b.operands)):
        if x is None or y is None:
            changes.append(Change(f"operand {index}", "" if x is None else _origin(x), "" if y is None else _origin(y)))
        elif matching.partner(y) is not x and (_is_matched(x, matching.pairs) or _is_matched(y, matching.back)):
            changes.append(Change(f"operand {index}", _origin(x), _origin(y)))
    return changes


def _is_matched(value: SSAValue, matched: dict[Operation, Operation]) -> bool:
    return isinstance(value, OpResult) and value.op in matched


def _origin(value: SSAValue) -> str:
    return f"{label(value.op) or value.op.name}:{value.index}" if isinstance(value, OpResult) else "an argument"
