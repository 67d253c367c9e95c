"""Reductions of XLA along axes, whose reducer is a function in the body of the operation.

    %y = tf.XlaReduce(%x, 0) {dimensions_to_reduce = [1], reducer: (a, b) -> AddV2(a, b)}
->  %y = opset1.ReduceSum(%x, [1])

    %y, %j = tf.XlaVariadicReduceV2(%x, [0, 1, …], -inf, 0) {reducer: the pair with the larger number}
->  %y, %j = opset11.TopK(%x, 1) {mode = max}
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.control_flow.bodies import graph_of
from moir.lowering.tensorflow.table import tf
from moir.lowering.xla.reduction import combination_of, reduced, reductions_of
from moir.rewriting.builder import OpBuilder


class Combination(Record):
    """A binary function that a reduction applies repeatedly: its operation, and the corresponding reduction."""

    operation: str
    reduction: str

    def of(self, op: OpBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
        """The function applied to two tensors."""
        return getattr(op, self.operation)(a, b)


COMBINATIONS = {
    "and": Combination("LogicalAnd", "ReduceLogicalAnd"),
    "max": Combination("Maximum", "ReduceMax"),
    "min": Combination("Minimum", "ReduceMin"),
    "or": Combination("LogicalOr", "ReduceLogicalOr"),
    "prod": Combination("Multiply", "ReduceProd"),
    "sum": Combination("Add", "ReduceSum"),
}
LOGICAL = ("and", "or")


def neutral(kind: str, element: Attribute) -> float | int:
    """The neutral element of a combination."""
    if kind in ("max", "min"):
        dtype, sign = to_numpy(element), -1 if kind == "max" else 1
        return sign * np.inf if dtype.kind == "f" else int(np.iinfo(dtype).min if sign < 0 else np.iinfo(dtype).max)
    return int(kind in ("prod", "and"))


def is_neutral(op: OpBuilder, kind: str, value: SSAValue) -> bool:
    """Whether a value is known to be the neutral element."""
    known = op.known.constant(value)
    return known is not None and known.size == 1 and known.reshape(()) == neutral(kind, element_of(value))


def combination_of(node: LoweringNode, body: Region, element: Attribute, *places: int) -> str:
    """The combination that a function computes at the given indices of its arguments. Raises ConversionError for
    others.
    """
    kind = combination(body, *places)
    if kind not in COMBINATIONS or (kind in LOGICAL) is not (element is boolean):
        node.fail(
            "its function is not a sum, a product, a minimum, a maximum, or a logical and or or",
            hint="export the model with enable_xla=False, or cut it in front of this node",
        )
    return kind


# Along axes


@tf.lowers("XlaReduce")
def reduction(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.XlaReduce(x, init) {dimensions_to_reduce, reducer} -> opset1.ReduceSum(x, axes) + init"""
    kind = combination_of(node, graph_of(node, "reducer"), node.element(0))
    return reduced(op, kind, node.operand(0), node.operand(1), node.integers("dimensions_to_reduce", ()))


@tf.lowers("XlaVariadicReduce", "XlaVariadicReduceV2")
def several_reductions(node: LoweringNode, op: OpBuilder, *operands: SSAValue) -> Sequence[SSAValue]:
    """tf.XlaVariadicReduceV2(x…, init…) {dimensions_to_reduce, reducer}
    -> a reduction of each operand, or the extreme of the first operand and the element of the second one there
    """
    body, values = graph_of(node, "reducer"), operands
    count = len(values) // 2
    found = extreme(body) if count == 2 else None
    if found is not None:
        return extremes(node, op, found)
    kinds = [combination_of(node, body, element_of(values[index]), index, count + index, index) for index in range(count)]
    return [reduced(node, op, kind, values[index], values[count + index]) for index, kind in enumerate(kinds)]


def reduced(node: LoweringNode, op: OpBuilder, kind: str, x: SSAValue, init: SSAValue) -> SSAValue:
    """A value reduced along the axes of a node, and combined with the initial value."""
    axes, how = node.integers("dimensions_to_reduce", ()), COMBINATIONS[kind]
    if axes:
        x = along(getattr(op, how.reduction), list(axes), False, x)
    return x if is_neutral(op, kind, init) else how.of(op, x, init)


def extremes(node: LoweringNode, op: OpBuilder, how: Extreme) -> Sequence[SSAValue]:
    """The extreme of operand 0 along the axes, and the element of operand 1 at its position.

    If the elements of operand 1 are their own positions, these are the indices of a TopK. Otherwise the smallest or
    largest element of operand 1 at positions of the extreme is selected, and the initial values are compared with both
    results.
    """
    x, index, first, first_index = node.operands
    axes = list(node.integers("dimensions_to_reduce", ()))
    kind = "max" if how.is_maximum else "min"
    if len(axes) == 1 and how.takes_smaller_index and _are_positions(node, axes[0]) and is_neutral(op, kind, first):
        element = element_of(index) if element_of(index) in INDEX_TYPES else si64
        found = op.TopK.results(x, op.constant(1, si64), axis=axes[0], mode=kind, sort="value", stable=True, index_element_type=element)
        best, place = (op.Squeeze(each, axes) for each in found)
        return [best, op.convert(place, element_of(index))]
    best = getattr(op, COMBINATIONS[kind].reduction)(x, axes, keep_dims=True)
    side = "min" if how.takes_smaller_index else "max"
    tie = COMBINATIONS[side]
    last = getattr(op, COMBINATIONS["max" if side == "min" else "min"].reduction)(index, axes, keep_dims=True)
    place = getattr(op, tie.reduction)(op.Select(op.Equal(x, best), index, last), axes, keep_dims=False)
    best = op.Squeeze(best, axes)
    is_better = (op.Greater if how.is_maximum else op.Less)(best, first)
    other = op.Select(op.Equal(best, first), tie.of(op, place, first_index), first_index)
    return [COMBINATIONS[kind].of(op, best, first), op.Select(is_better, place, other)]


def _are_positions(node: LoweringNode, axis: int) -> bool:
    """Whether the elements of operand 1 are their positions along an axis, 0 for the first one."""
    index, first = node.constant(1), node.constant(3)
    if index is None or first is None or first.any() or not 0 <= axis < index.ndim:
        return False
    return bool(np.array_equal(index, np.indices(index.shape, sparse=True)[axis] + np.zeros_like(index)))
