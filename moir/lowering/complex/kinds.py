"""What the registration of a kind says of complex numbers.

    @tf.lowers("Transpose", complex=PAIRS)                       the handler takes complex tensors as pairs itself
    @tf.lowers("Cumsum", complex=by_parts(0))                    the handler computes each part, for a complex operand 0
    @tf.lowers("Log", complex=by_function("log"))                a function of `moir.expansions.complex_numbers`
    @tf.lowers("MatMul", complex=by_formula("tensorflow.complex.matrices:matrix_product"))
    @paddle.lowers("complex", complex=PAIRS_FROM_REAL)           complex results of real operands

A kind whose registration says nothing computes with real numbers only. Formulas are loaded when a node needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Operation

from moir.dialects.framework import COMPLEX_OPERANDS
from moir.dialects.properties import value_of
from moir.frameworks import load
from moir.support.records import Record

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from moir.lowering.binder import LoweringNode
    from moir.lowering.handlers import BoundHandler, Replacement
    from moir.rewriting.builder import OpBuilder

Compute = Callable[["LoweringNode", "OpBuilder", "BoundHandler"], "Replacement"]
"""Computes the results of a node with complex operands; the last argument is the handler for real ones."""

Accepts = Callable[[Operation, Sequence[int]], bool]
"""A condition on an operation and the indices of its complex operands: whether it can be computed."""


class Complex(Record):
    """How a kind computes with complex numbers.

    Args:
        compute: builds the results of nodes with complex operands; None if the handler itself takes complex operands.
        is_source: whether its results are complex, whatever its operands are.
        is_real: whether its results are real numbers, although operands are complex.
        accepts: a condition on operations with complex operands; None if all of them can be computed.
    """

    compute: Compute | None = None
    is_source: bool = False
    is_real: bool = False
    accepts: Accepts | None = None


def all_complex(op: Operation, operands: Sequence[int]) -> bool:
    """Whether all operands of an operation are complex."""
    return len(operands) == len(op.operands)


PAIRS = Complex()
"""The handler takes complex tensors as pairs."""

PAIRS_TO_REAL = Complex(is_real=True)
"""The handler takes complex tensors as pairs and returns real tensors."""

PAIRS_FROM_REAL = Complex(is_source=True, accepts=lambda _op, _operands: False)
"""The handler takes real tensors and returns complex ones as pairs."""


def by_parts(*operands: int, accepts: Accepts | None = None) -> Complex:
    """The record of a kind whose handler, written for real numbers, is called for the real parts and then for the
    imaginary parts.

    Args:
        operands: the operands that are complex if the node is; by default those that are marked.
        accepts: whether an operation with complex operands of these indices can be computed in this way.
    """

    def compute(node: LoweringNode, op: OpBuilder, handler: BoundHandler) -> Replacement:
        from moir.lowering.complex.parts import computed_by_parts

        return computed_by_parts(node, op, handler, operands or complex_operands(node.op))

    return Complex(compute, accepts=accepts)


def by_function(name: str = "") -> Complex:
    """The record of a kind that the function `name` of `moir.expansions.complex_numbers` computes; the default is the
    kind's own name.
    """

    def compute(node: LoweringNode, op: OpBuilder, _: BoundHandler) -> SSAValue:
        from moir.expansions.complex_numbers import ARITHMETIC, FUNCTIONS, paired, parts

        function = name or node.op.KIND.partition(".")[0].lower()
        if function in FUNCTIONS:
            return paired(op, *FUNCTIONS[function](op, parts(op, node.operand(0))))
        return paired(op, *ARITHMETIC[function](op, parts(op, node.operand(0)), parts(op, node.operand(1))))

    return Complex(compute)


def by_formula(formula: str, *, is_real: bool = False) -> Complex:
    """The record of a kind that a function of the node and a builder computes; `formula` is `module:function` in
    `moir.lowering`.

    `is_real` is whether the results are real.
    """

    def compute(node: LoweringNode, op: OpBuilder, _: BoundHandler) -> Replacement:
        return load(f"moir.lowering.{formula}")(node, op)

    return Complex(compute, is_real=is_real)


def with_handler(formula: str, *, is_real: bool = False) -> Complex:
    """The record of a kind that a function of the node, a builder and the handler for real numbers computes.

    `formula` is `module:function` in `moir.lowering`; `is_real` is whether the results are real.
    """

    def compute(node: LoweringNode, op: OpBuilder, handler: BoundHandler) -> Replacement:
        return load(f"moir.lowering.{formula}")(node, op, handler)

    return Complex(compute, is_real=is_real)


def complex_operands(op: Operation) -> tuple[int, ...]:
    """The indices of the operands of an operation that are marked as complex."""
    marked = op.properties.get(COMPLEX_OPERANDS)
    return () if marked is None else tuple(value_of(marked))


def computes_complex(op: Operation) -> bool:
    """Whether an operation computes with complex numbers, by the types in its properties or by its marks."""
    return COMPLEX_OPERANDS in op.properties or any(type(each) is ComplexType for each in op.properties.values())


def for_complex(handler: BoundHandler, compute: Compute) -> BoundHandler:
    """A handler that calls `compute` for nodes with complex operands, and the given handler for other nodes."""

    @wraps(handler)
    def choose(node: LoweringNode, op: OpBuilder) -> Replacement | None:
        return compute(node, op, handler) if computes_complex(node.op) else handler(node, op)

    return choose
