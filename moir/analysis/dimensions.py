"""Which dimensions are equal, whatever the inputs of the model are reshaped to.

    known = Dimensions()
    known.scan(operations)         # of all blocks, in order
    known.tokens(value)            # one token per dimension: an integer or a Symbol

A token is an integer where weights and other constants of the model fix the dimension, and a symbol where the dimension
depends on an input. That includes static dimensions of inputs, since a model can be reshaped after it is read. Two
dimensions with one symbol are always equal. The tokens of results are computed by `result_shapes` of each operation, as
in type inference.

As these are `KnownValues`, the values of shape computations consist of the same tokens: entry 0 of the shape of
`Relu(x)` is the symbol of dimension 0 of `x`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from xdsl.ir import Operation, OpResult, SSAValue

from moir.analysis.known_values import KnownValues
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import Shapes, SymbolicShape, is_static, shape_of
from moir.dialects.symbols import Dimension, Sum, Symbol, is_symbolic, same
from moir.errors import InferenceError

Token: TypeAlias = Dimension
Tokens: TypeAlias = tuple[Token, ...]


class Dimensions(KnownValues):
    """The dimensions of values, and the elements of small integer tensors computed from them, known during analysis.

    Each dimension is an integer or a symbol. Dimensions with the same symbol are equal, whatever shapes the inputs get.

    Args:
        static: use integers also for dimensions that only the current shapes of the inputs fix.
    """

    def __init__(self, static: bool = False) -> None:
        super().__init__()
        self.static = static
        self._tokens: dict[SSAValue, Tokens | None] = {}
        self._inferred: set[int] = set()
        """The `id`s of the operations whose tokens are being computed."""
        self._sums: dict[frozenset[Token], Sum] = {}
        self._named: dict[str, Symbol] = {}

    def forget(self) -> None:
        super().forget()
        self._tokens.clear()

    def scan(self, operations: Iterable[Operation]) -> Dimensions:
        """Compute the tokens of the results of operations in order, so that later requests need no deep recursion."""
        for op in operations:
            for result in op.results:
                self.tokens(result)
        return self

    def dimension(self, value: SSAValue, axis: int) -> Token:
        tokens = self.tokens(value)
        return super().dimension(value, axis) if tokens is None else tokens[axis]

    def tokens(self, value: SSAValue) -> Tokens | None:
        """A token for each dimension of a value; None if its rank is dynamic."""
        try:
            return self._tokens[value]
        except KeyError:
            if self.static and is_static(shape := shape_of(value)):
                self._tokens[value] = shape
            elif isinstance(value, OpResult) and isinstance(value.op, OpsetOp) and not value.op.regions:
                self._infer(value.op)
            else:
                self._tokens[value] = self._settled(value, None)
            return self._tokens[value]

    def _infer(self, op: OpsetOp) -> None:
        """Compute the tokens of the results of an operation.

        Results that took over the tokens of another value keep these.
        """
        results = [result for result in op.results if result not in self._tokens]
        shapes: Shapes | None = None
        # The operation may be reached from its operands, in an unsorted block.
        if id(op) not in self._inferred:
            self._inferred.add(id(op))
            try:
                shapes = op.result_shapes([self.tokens(operand) for operand in op.operands], self)
            except (InferenceError, NotImplementedError):
                # Type inference reports contradictions. An operation of an extension may define no shape inference.
                shapes = None
            self._inferred.discard(id(op))
        for result in results:
            self._tokens[result] = self._settled(result, None if shapes is None else shapes[result.index])

    def take_over(self, value: SSAValue, replaced: SSAValue) -> None:
        """Give a value the tokens of another value, which it is about to replace."""
        self._tokens[value] = self.tokens(replaced)

    def _settled(self, value: SSAValue, dimensions: SymbolicShape) -> Tokens | None:
        """The tokens of a value, where dimensions with an unknown token get new symbols.

        None if the rank is dynamic.
        """
        shape = shape_of(value)
        if shape is None:
            return None
        if dimensions is None or len(dimensions) != len(shape):
            dimensions = (-1,) * len(shape)
        return tuple(
            [
                d if self.static and d >= 0 else Symbol(dimension=True) if token == -1 else token
                for d, token in zip(shape, dimensions, strict=True)
            ]
        )

    def named(self, name: str) -> Symbol:
        """The symbol for the dimensions that have this name in the model."""
        return self._named.setdefault(name, Symbol(dimension=True))

    def sum(self, a: Token, b: Token) -> Token:
        """The sum of two dimensions, -1 if either is unknown; equal operands always give the same symbol."""
        return -1 if a == -1 or b == -1 else self._sum_of_numbers(a, b)

    def _sum_of_numbers(self, a: Token, b: Token) -> Token:
        """The sum of two integers or symbols; -1 counts as the integer -1, and not as a dynamic dimension."""
        if same(a, 0) or same(b, 0):
            return b if same(a, 0) else a
        if not isinstance(a, Symbol) and not isinstance(b, Symbol):
            return a + b
        return self._sums.setdefault(frozenset((a, b)), Sum(a, b))

    def _evaluate(self, op: OpsetOp) -> None:
        super()._evaluate(op)
        result = op.results[0]
        if op.name == "opset1.Add" and (elements := self._elements[result]) is not None and is_symbolic(elements):
            a, b = np.broadcast_arrays(*(np.asarray(self.elements(operand), dtype=object) for operand in op.operands))
            if a.shape == elements.shape:
                self._elements[result] = np.asarray(np.frompyfunc(self._sum_of_numbers, 2, 1)(a, b), dtype=object)


def same_tokens(a: Sequence[Token], b: Sequence[Token]) -> bool:
    """Whether two shapes that are known to have the same number of elements are equal.

    If all dimensions but one are the same, the equal element count implies that the last one is, too.
    """
    if len(a) != len(b):
        return False
    differing = [(x, y) for x, y in zip(a, b, strict=True) if not same(x, y)]
    return not differing or (len(differing) == 1 and 0 not in a and 0 not in b and any(isinstance(token, Symbol) for token in differing[0]))
