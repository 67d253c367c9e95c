"""Layers that combine several tensors.

%y = keras.Add(%a, %b) {arguments = [["%0", "%1"]]}  ->  %y = opset1.Add(%a, %b)
"""

from __future__ import annotations

from typing import cast

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.keras.attributes import Arguments, axis_list, values_within
from moir.lowering.keras.functions.pairs import ARITHMETIC
from moir.lowering.keras.promotion import promoted
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder

_PAIRS = {**{name: ARITHMETIC[name] for name in ("Add", "Maximum", "Minimum", "Multiply", "Subtract")}, "Average": ARITHMETIC["Add"]}
"""The functions of two tensors by the names of layers; the sum of an Average is divided afterwards."""


def merge_operands(node: LoweringNode, op: OpBuilder) -> list[SSAValue]:
    """The tensors of a call, converted to their common element type. Raises ConversionError if there are none."""
    tensors = values_within(Arguments(node).positional)
    if not tensors:
        node.fail("it has no tensors")
    return promoted(op, tensors)


@keras.lowers(*_PAIRS)
def merged(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """keras.Add(a, b, …) -> opset1.Add(opset1.Add(a, b), …); likewise the other layers that combine elements

    Tensors of lower rank get dimensions of 1 after the batch.
    """
    tensors = merge_operands(node, op)
    if node.op.KIND == "Subtract" and len(tensors) != 2:
        node.fail(f"it has {len(tensors)} tensors instead of 2")
    ranks = [node.rank(index) for index in range(len(tensors))]
    known = [rank for rank in ranks if rank is not None]
    if len(known) == len(tensors) and len(set(known)) > 1:
        tensors = [
            op.Unsqueeze(value, list(range(1, 1 + max(known) - rank))) if 0 < rank < max(known) else value
            for value, rank in zip(tensors, known, strict=True)
        ]
    result = tensors[0]
    for each in tensors[1:]:
        result = _PAIRS[node.op.KIND](op, result, each)
    return op.Divide(result, float(len(tensors))) if node.op.KIND == "Average" else result


@keras.lowers("CustomScaleLayer")
def scaled_sum(node: LoweringNode, op: OpBuilder, *, scale: float) -> SSAValue:
    """keras.CustomScaleLayer(a, b) {scale} -> a + scale · b, which Keras' InceptionResNetV2 defines"""
    tensors = merge_operands(node, op)
    if len(tensors) != 2:
        node.fail(f"it has {len(tensors)} tensors instead of 2")
    return op.Add(tensors[0], op.Multiply(tensors[1], scale))


@keras.lowers("Concatenate")
def concatenation(node: LoweringNode, op: OpBuilder, *, axis: int = -1) -> SSAValue:
    """keras.Concatenate(a, b, …) {axis} -> opset1.Concat(a, b, …)"""
    tensors = merge_operands(node, op)
    return tensors[0] if len(tensors) == 1 else op.Concat(*tensors, axis=axis_list(node, axis, node.known_rank(0))[0])


@keras.lowers("Dot")
def dot(node: LoweringNode, op: OpBuilder, *, axes: object, normalize: bool = False) -> SSAValue:
    """keras.Dot(a, b) {axes} -> opset1.MatMul of the tensors with these axes last, for each element of the batch"""
    tensors = merge_operands(node, op)
    if len(tensors) != 2:
        node.fail(f"it has {len(tensors)} tensors instead of 2")
    ranks = node.known_rank(0), node.known_rank(1)
    pair: tuple[object, ...] = (axes, axes) if isinstance(axes, int) else cast("tuple[object, ...]", axes)
    if not isinstance(axes, int | tuple) or len(pair) != 2:
        node.fail(f"axes is {axes!r}")
    contracted = [axis_list(node, axis, rank)[0] for axis, rank in zip(pair, ranks, strict=True)]
    if 0 in contracted:
        node.fail("a product along the batch is not supported")
    if normalize:
        tensors = [
            op.NormalizeL2(value, [contracted_axis], eps=1e-12, eps_mode="max")
            for value, contracted_axis in zip(tensors, contracted, strict=True)
        ]
    letters = "bcdefghijklmnopqrstuvwxyz"
    first = list("a" + letters[: ranks[0] - 1])
    second = list("a" + letters[ranks[0] - 1 : ranks[0] + ranks[1] - 2])
    second[contracted[1]] = first[contracted[0]]
    result = [each for each in first if each != first[contracted[0]]] + [each for each in second[1:] if each != first[contracted[0]]]
    if ranks == (2, 2):
        return op.ReduceSum(op.Multiply(tensors[0], tensors[1]), [1], keep_dims=True)
    return op.Einsum(*tensors, equation=f"{''.join(first)},{''.join(second)}->{''.join(result)}")
