"""Matching of expressions that TensorFlow nodes compute, through identities, in any order of sums and products.

    sum_of(Named("top"), scaled(Named("height"), 0.5)).match(value, bindings)

A division by a constant and a multiplication by its inverse match each other, since versions of a framework differ
here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from xdsl.ir import OpResult, SSAValue

from moir.analysis.constants import scalar_of
from moir.dialects.framework import FrameworkOp
from moir.dialects.frameworks.tensorflow import kind_of, origin

Bindings = dict[str, SSAValue]
"""Name in an expression -> the value that it stands for."""


class Expression:
    """A pattern of an expression over TensorFlow nodes, which is matched with values."""

    @abstractmethod
    def match(self, value: SSAValue, bindings: Bindings) -> bool:
        """Whether a value is computed by the expression.

        If so, adds the values of the names in it to `bindings`, which is unchanged otherwise.
        """


class Named(Expression):
    """Matches any value, but the same value at each occurrence of the name.

    Args:
        name: its name.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def match(self, value: SSAValue, bindings: Bindings) -> bool:
        return bindings.setdefault(self.name, origin(value)) is origin(value)


class Computed(Expression):
    """Matches result `result` of a node of one of `kinds` whose first operands match the expressions `operands`.

    Args:
        kinds: the kinds.
        operands: expressions of its first operands; a node with fewer operands does not match.
        commutes: whether the two operands may be exchanged.
        result: the index of the result.
    """

    def __init__(self, kinds: Sequence[str], *operands: Expression, commutes: bool = False, result: int = 0) -> None:
        self.kinds = kinds
        self.operands = operands
        self.commutes = commutes
        self.result = result

    def match(self, value: SSAValue, bindings: Bindings) -> bool:
        value = origin(value)
        if not isinstance(value, OpResult) or value.index != self.result or kind_of(value.op) not in self.kinds:
            return False
        given = value.op.operands
        if len(given) < len(self.operands):
            return False
        orders = [given[: len(self.operands)]]
        if self.commutes:
            orders.append((given[1], given[0]))
        for order in orders:
            trial = dict(bindings)
            if all(part.match(operand, trial) for part, operand in zip(self.operands, order, strict=True)):
                bindings.update(trial)
                return True
        return False


class Scaled(Expression):
    """Matches a value times a constant: a product with it, or a quotient by its inverse.

    Args:
        operand: the expression of the value.
        factor: the constant.
    """

    def __init__(self, operand: Expression, factor: float) -> None:
        self.operand = operand
        self.factor = factor

    def match(self, value: SSAValue, bindings: Bindings) -> bool:
        scaled = scaled_origin(value)
        return abs(scaled[1] - self.factor) < 1e-6 and self.operand.match(scaled[0], bindings)


def scaled_origin(value: SSAValue) -> tuple[SSAValue, float]:
    """A value and a factor whose product is the given value: an operand of a multiplication or division by a constant;
    the value itself and 1 otherwise.
    """
    value = origin(value)
    node = value.owner
    if not isinstance(node, FrameworkOp) or kind_of(node) not in ("Mul", "RealDiv", "Div"):
        return value, 1.0
    for operand, other in ((node.operands[0], node.operands[1]), (node.operands[1], node.operands[0])):
        factor = scalar_of(origin(other))
        if factor is not None and (kind_of(node) == "Mul" or (other is node.operands[1] and factor != 0)):
            return origin(operand), factor if kind_of(node) == "Mul" else 1 / factor
    return value, 1.0


def sum_of(first: Expression, second: Expression) -> Expression:
    """The pattern of first + second, in either order."""
    return Computed(("AddV2", "Add"), first, second, commutes=True)


def difference(first: Expression, second: Expression) -> Expression:
    """The pattern of first - second."""
    return Computed(("Sub",), first, second)


def product(first: Expression, second: Expression) -> Expression:
    """The pattern of first * second, in either order."""
    return Computed(("Mul",), first, second, commutes=True)


def exponential(operand: Expression) -> Expression:
    """The pattern of exp(operand)."""
    return Computed(("Exp",), operand)


def row(index: int, operand: Expression) -> Expression:
    """The pattern of column `index` of a matrix, as `tf.unstack(tf.transpose(matrix))[number]` computes it."""
    return Computed(("Unpack",), Computed(("Transpose",), operand), result=index)
