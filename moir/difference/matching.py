"""Matches the operations of two models by their names and by their neighbours.

 1. Inputs and outputs are matched if they have the same name, or else the same number.
 2. Operations are matched if they have the same name, which occurs once in each model. Names that a writer of IR gives
 to operations
    without a name, `Add_12`, do not count.
 3. Of the others, those match that have matched operands, the same kind and the same attributes; then those that have
 matched operands and the same kind; then those of one kind that are the same operand of matched users.
 4. The names that do not count above are compared last.

The bodies of matched operations are matched with each other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from itertools import islice

from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from moir.analysis.constants import is_decompression
from moir.dialects.data import DataAttr
from moir.dialects.moir import PARAMETER, RESULT
from moir.dialects.names import name_of
from moir.dialects.opset.interfaces.operation import OpsetOp

NOT_COMPARED = frozenset(("name", "tensor_names"))
"""Attributes that hold names."""

_ROUNDS, _MANY = 4, 64
_GIVEN = re.compile(r"\w+_\d+(?:_compressed)?")


def is_given(op: Operation) -> bool:
    """Whether a writer of IR gave an operation its name, which consists of its kind and a number."""
    name = name_of(op) or ""
    return isinstance(op, OpsetOp) and bool(_GIVEN.fullmatch(name)) and name.startswith(f"{op.KIND}_")


def constant_data(op: Operation) -> DataAttr | None:
    """The value of a constant, or of a Convert of a constant with fewer bits; None for another operation."""
    if is_decompression(op) and isinstance(source := op.operands[0], OpResult):
        op = source.op
    found = op.properties.get("value")
    return found if isinstance(found, DataAttr) and not op.operands else None


def compared_operations(block: Block) -> list[Operation]:
    """The operations of a block that are compared. A constant in half precision and the Convert that restores it count
    as one operation, the Convert.
    """
    stored = {operand.op for op in block.ops if is_decompression(op) for operand in op.operands if isinstance(operand, OpResult)}
    return [op for op in block.ops if op not in stored or any(not is_decompression(use.operation) for use in op.results[0].uses)]


class Matching:
    """The operations of two blocks that belong together.

    Args:
        first: a block of the first model.
        second: a block of the second model.

    Attributes:
        pairs: the operations of the first block -> those of the second one.
        back: the same in the other direction.
    """

    def __init__(self, first: Block, second: Block) -> None:
        self.pairs: dict[Operation, Operation] = {}
        self.back: dict[Operation, Operation] = {}
        self.first, self.second = compared_operations(first), compared_operations(second)
        self._places = {op: place for place, op in enumerate(self.first)}
        for kind in (PARAMETER, RESULT):
            self._ports([op for op in self.first if op.name == kind], [op for op in self.second if op.name == kind])
        self._by_key(lambda op: name_of(op) if constant_data(op) is None and not is_given(op) else None)
        for _ in range(_ROUNDS):
            count = len(self.pairs)
            self._from_operands(exactly=True)
            self._from_users()
            self._from_operands(exactly=False)
            if len(self.pairs) == count:
                break
        self._by_key(lambda op: (name_of(op), op.name) if name_of(op) else None)

    def _pair(self, a: Operation, b: Operation) -> None:
        self.pairs[a], self.back[b] = b, a

    def _ports(self, first: list[Operation], second: list[Operation]) -> None:
        names = {name: op for op in second if (name := name_of(op))}
        for op in first:
            if (other := names.pop(name_of(op) or "", None)) is not None:
                self._pair(op, other)
        # Of as many on both sides, those without a partner changed their names.
        if len(first) == len(second):
            others = [op for op in second if op not in self.back]
            for a, b in zip([op for op in first if op not in self.pairs], others, strict=True):
                self._pair(a, b)

    def _by_key(self, key: Callable[[Operation], Hashable | None]) -> None:
        """Match operations with equal keys that occur once in each block."""
        second = _single(self.second, self.back, key)
        for each, op in _single(self.first, self.pairs, key).items():
            if each in second:
                self._pair(op, second[each])

    def _from_operands(self, *, exactly: bool) -> None:
        """Match operations of one kind, with equal attributes if `exactly`, whose operands are matched."""
        for op in self.second:
            if op in self.back or not op.operands:
                continue
            operands = [self.partner(operand) for operand in op.operands]
            known = [operand for operand in operands if operand is not None]
            if len(known) < len(operands):
                continue
            # A constant can have thousands of uses, which are not counted for each of them.
            rarest = min(known, key=lambda operand: sum(1 for _ in islice(operand.uses, _MANY)))
            alike = [use.operation for use in rarest.uses if self._fits(use.operation, op, known, exactly)]
            if alike:
                # Of several that do the same, the one of the same name, or the first: this walk goes in order, too.
                same = [other for other in alike if name_of(other) == name_of(op)]
                self._pair(min(same or alike, key=self._places.__getitem__), op)

    def _fits(self, a: Operation, b: Operation, operands: list[SSAValue], exactly: bool) -> bool:
        if a in self.pairs or a.name != b.name or a not in self._places or list(a.operands) != operands:
            return False
        return not exactly or attributes_of(a) == attributes_of(b)

    def partner(self, value: SSAValue) -> SSAValue | None:
        """The value of the first block that matches a value of the second block; None if its operation is not
        matched.
        """
        if not isinstance(value, OpResult) or (op := self.back.get(value.op)) is None or value.index >= len(op.results):
            return None
        return op.results[value.index]

    def _from_users(self) -> None:
        """Match the producers of equal operands of matched operations, if they are of one kind."""
        pending = list(self.pairs.items())
        while pending:
            a, b = pending.pop()
            for x, y in zip(a.operands, b.operands, strict=False):
                if not isinstance(x, OpResult) or not isinstance(y, OpResult) or x.index != y.index:
                    continue
                if x.op in self.pairs or y.op in self.back or not _are_alike(x.op, y.op):
                    continue
                self._pair(x.op, y.op)
                pending.append((x.op, y.op))


def _are_alike(a: Operation, b: Operation) -> bool:
    """Whether two operations are of one kind; constants are of one kind, however they are stored."""
    return a.name == b.name if constant_data(a) is None else constant_data(b) is not None


def attributes_of(op: Operation) -> dict[str, Attribute]:
    """The attributes of an operation that are compared: all but names and values of constants."""
    found = {**op.properties, **op.attributes}
    return {name: each for name, each in found.items() if name not in NOT_COMPARED and not isinstance(each, DataAttr)}


def _single(
    operations: Iterable[Operation], matched: Mapping[Operation, Operation], key: Callable[[Operation], Hashable | None]
) -> dict[Hashable, Operation]:
    """The operations that are not matched yet and whose key occurs once, by this key."""
    found: dict[Hashable, list[Operation]] = {}
    for op in operations:
        if op not in matched and (each := key(op)) is not None:
            found.setdefault(each, []).append(op)
    return {each: group[0] for each, group in found.items() if len(group) == 1}
