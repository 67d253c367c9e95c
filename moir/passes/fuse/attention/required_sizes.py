"""Sizes without which a model cannot be computed.

A Reshape whose target states all sizes fails if its data has another number of elements. So the number of elements of
the values from which that data is computed is fixed, too:

    %1 = opset1.Transpose(%0, [0, 2, 1, 3])                // %0: as many elements as [B, 4, L, 12]
    %2 = opset1.Reshape(%1, [-1, 48])
    %3 = opset1.Add(opset1.MatMul(%2, %weights), %bias)    // %weights: [48, 32]
    %4 = opset1.Reshape(%3, opset1.Concat(B, L, [32]))
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from xdsl.ir import Operation, SSAValue

from moir.analysis.dimensions import Dimensions, Token
from moir.analysis.uses import live_uses
from moir.dialects.opset.arithmetic import Add
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.movement import Transpose
from moir.dialects.opset.shape import Reshape
from moir.dialects.symbols import Symbol, same

MOST_STEPS = 16
"""The maximum number of values whose uses are visited."""


def is_count_required(value: SSAValue, sizes: Iterable[Token], known: Dimensions) -> bool:
    """Whether the model fails unless a value has as many elements as a tensor of these sizes."""
    symbols, number = factors(sizes)
    pending = [(value, number)]
    for _ in range(MOST_STEPS):
        if not pending:
            return False
        current, number = pending.pop()
        for use in live_uses(current):
            op = use.operation
            if use.index != 0:
                continue
            if isinstance(op, Reshape) and is_demand(op, symbols, number, known):
                return True
            if isinstance(op, Reshape | Transpose) or (isinstance(op, Add) and keeps_shape(op, known)):
                pending.append((op.results[0], number))
            elif isinstance(op, MatMul) and (elements := projected(op, number, known)) is not None:
                pending.append((op.results[0], elements))
    return False


def factors(sizes: Iterable[Token]) -> tuple[Counter[Symbol], int]:
    """The product of sizes: its symbols with their multiplicities, and the product of its integers."""
    symbols, number = Counter[Symbol](), 1
    for size in sizes:
        if isinstance(size, Symbol):
            symbols[size] += 1
        else:
            number *= size
    return symbols, number


def is_demand(op: Reshape, symbols: Counter[Symbol], number: int, known: Dimensions) -> bool:
    """Whether the target of a Reshape has `number` times the product of the dynamic dimensions `symbols` as elements.

    It has to state every size, without 0 and -1.
    """
    target = known.elements(op.operands[1])
    if target is None:
        return False
    entries = target.ravel().tolist()
    return all(isinstance(each, Symbol) or each > 0 for each in entries) and factors(entries) == (symbols, number)


def keeps_shape(op: Operation, known: Dimensions) -> bool:
    """Whether the second operand is certainly a scalar or a vector along the last dimension of the first operand."""
    data, other = (known.tokens(operand) for operand in op.operands)
    return bool(data) and other is not None and (not other or (len(other) == 1 and same(data[-1], other[0])))


def projected(op: MatMul, number: int, known: Dimensions) -> int | None:
    """The integer factor of the element count of a MatMul's result, given that of its data, `number`.

    None unless the MatMul multiplies by a matrix of static sizes.
    """
    matrix = known.tokens(op.operands[1])
    if op.flag("transpose_a") or matrix is None or len(matrix) != 2:
        return None
    rows, columns = reversed(matrix) if op.flag("transpose_b") else matrix
    if isinstance(rows, Symbol) or isinstance(columns, Symbol) or rows < 1 or number % rows:
        return None
    return number // rows * columns
