"""The operand list of an operation, in which replacing one operand takes constant time.

xDSL keeps operands in a tuple and copies it for each operand that is replaced. A pass that replaces each operand of a
Concat of 50,000 would copy 2.5 billion. So an operation with many operands keeps them in a list from the first
replacement on; others keep their tuple, which is smaller and quicker to make.
"""

from __future__ import annotations

from typing import Any, SupportsIndex, cast, overload

from xdsl.ir import Operation, OpOperands, SSAValue, SSAValues

WIDE = 32
"""Number of operands from which on a list is faster than a tuple."""


class _WideOperands(list[SSAValue]):
    """Operands in a list. A slice of them is a tuple."""

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> SSAValue: ...

    @overload
    def __getitem__(self, index: slice, /) -> list[SSAValue]: ...

    def __getitem__(self, index: SupportsIndex | slice, /) -> SSAValue | list[SSAValue]:
        operand = super().__getitem__(index)
        return cast("list[SSAValue]", SSAValues(operand)) if isinstance(operand, list) else operand


class OperandList(OpOperands):
    """A view of the operands of an operation, in place of xDSL's own view."""

    def __setitem__(self, idx: int, operand: SSAValue) -> None:
        op = self._op
        operands: Any = op._operands  # pyright: ignore[reportPrivateUsage]
        use = op._operand_uses[idx]  # pyright: ignore[reportPrivateUsage]
        operands[idx].remove_use(use)
        operand.add_use(use)
        if len(operands) == 1:
            op._operands = SSAValues((operand,))  # pyright: ignore[reportPrivateUsage]
        elif len(operands) < WIDE:
            op._operands = SSAValues((*operands[:idx], operand, *operands[idx + 1 :]))  # pyright: ignore[reportPrivateUsage]
        else:
            if not isinstance(operands, _WideOperands):
                operands = _WideOperands(operands)
                op._operands = operands  # pyright: ignore[reportPrivateUsage]
            operands[idx] = operand

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpOperands) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


OPERANDS = property(OperandList, Operation.operands.fset, doc="The operands.")
"""The property `operands` for classes of operations that have an `OperandList` in place of xDSL's view."""
