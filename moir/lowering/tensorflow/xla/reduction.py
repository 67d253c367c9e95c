"""Reductions of XLA along axes, whose reducer is a function in the body of the operation.

    %y = tf.XlaReduce(%x, 0) {dimensions_to_reduce = [1], reducer: (a, b) -> AddV2(a, b)}
->  %y = opset1.ReduceSum(%x, [1])

    %y, %j = tf.XlaVariadicReduceV2(%x, [0, 1, …], -inf, 0) {reducer: the pair with the larger number}
->  %y, %j = opset11.TopK(%x, 1) {mode = max}
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.shapes import element_of
from moir.lowering.binder import LoweringNode
from moir.lowering.control_flow.bodies import graph_of
from moir.lowering.tensorflow.table import tf
from moir.lowering.xla.reduction import combination_of, reduced, reductions_of
from moir.rewriting.builder import OpBuilder


@tf.lowers("XlaReduce")
def reduction(
    node: LoweringNode, op: OpBuilder, input: SSAValue, init_value: SSAValue, *, dimensions_to_reduce: tuple[int, ...]
) -> SSAValue:
    """tf.XlaReduce(x, init) {dimensions_to_reduce, reducer} -> opset1.ReduceSum(x, axes) + init"""
    kind = combination_of(node, graph_of(node, "reducer"), element_of(input))
    return reduced(op, kind, input, init_value, dimensions_to_reduce)


@tf.lowers("XlaVariadicReduce", "XlaVariadicReduceV2")
def several_reductions(node: LoweringNode, op: OpBuilder, *operands: SSAValue) -> Sequence[SSAValue]:
    """tf.XlaVariadicReduceV2(x…, init…) {dimensions_to_reduce, reducer} -> a reduction of each operand, or the extreme
    of the first operand and the element of the second operand at its position
    """
    return reductions_of(node, op, graph_of(node, "reducer"), operands, node.integers("dimensions_to_reduce", ()))
