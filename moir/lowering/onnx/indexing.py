"""Reading elements at computed indices, one-hot encoding, the indices of nonzero elements."""

from __future__ import annotations

from typing import cast

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si32, si64, string
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Parameter
from moir.dialects.shapes import element_of
from moir.dialects.symbols import integer_array
from moir.expansions.constant_indices import outside
from moir.expansions.shape_values import as_scalar, cut_to
from moir.expansions.strings.texts import unpacked
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.operands import declared_rank
from moir.lowering.onnx.ranks import gathered
from moir.lowering.onnx.strings.movement import moves_strings
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder


@onnx.lowers("Gather", rank=gathered)
def gather(node: LoweringNode, op: OpBuilder, data: SSAValue, indices: SSAValue, *, axis: int = 0) -> SSAValue:
    """onnx.Gather(x, indices) {axis = 0} -> opset8.Gather(x, indices, axis)"""
    node.note(outside(data, op.known.constant(indices), axis))
    return op.Gather(data, indices, axis)


@onnx.lowers("GatherElements")
@moves_strings(0)
def gather_elements(node: LoweringNode, op: OpBuilder, data: SSAValue, indices: SSAValue, *, axis: int = 0) -> SSAValue:
    """onnx.GatherElements(data, indices) {axis = 0} -> opset6.GatherElements(data, indices) {axis}

    The operation of the IR has equal sizes on all other axes: the data are sliced to the sizes of the indices if these
    may be smaller.
    """
    node.note(outside(data, op.known.constant(indices), axis))
    return op.GatherElements(cut_to(op, data, indices, axis), indices, axis=axis)


@onnx.lowers("GatherND", "com.microsoft.GatherND")
@moves_strings(0)
def gather_nd(node: LoweringNode, op: OpBuilder, *, batch_dims: int = 0) -> SSAValue:
    """onnx.GatherND(x, indices) {batch_dims = 0} -> opset8.GatherND(x, indices) {batch_dims}; likewise of
    com.microsoft
    """
    data, indices = node.operand(0), node.operand(1)
    ranks = node.rank(0), node.rank(1), declared_rank(node)
    shape = node.shape(1)
    if ranks[0] == batch_dims + 1 and (shape is None or -1 in shape[-1:]):
        # There is one coordinate.
        return op.Gather(data, op.Squeeze(indices, [-1]), batch_dims, batch_dims=batch_dims)
    if shape and shape[-1] < 0 and None not in ranks:
        # The number of coordinates determines the rank of the result.
        rank, own, result = cast("tuple[int, int, int]", ranks)
        indices = op.Reshape(indices, [*(0,) * (own - 1), own + rank - 1 - batch_dims - result], special_zero=True)
    elif (shape is None or -1 in shape[-1:]) and isinstance(source := node.operand(1).owner, Parameter):
        node.fail(
            "the last dimension of the indices is unknown, and so the rank of the result",
            hint=f"give the input {name_of(source)} a static shape",
        )
    return op.GatherND(data, indices, batch_dims=batch_dims)


@onnx.lowers("OneHot", since=9)
@moves_strings(2)
def one_hot(node: LoweringNode, op: OpBuilder, _indices: SSAValue, _depth: SSAValue, values_: SSAValue, *, axis: int = -1) -> SSAValue:
    """onnx.OneHot(indices, depth, [off, on]) {axis = -1}
    -> opset16.OneHot(indices, depth, on, off) {axis, negative_indices_mode}

    A negative index counts from the end; before version 11 it gives `off` everywhere.
    """
    indices, depth = (as_index(node, op, i) for i in (0, 1))
    values = op.known.constant(values_)
    if values is not None and values.size == 2:
        off, on = (op.constant(np.asarray(values.ravel()[i])) for i in (0, 1))
    else:
        off, on = (op.Gather(values_, i, 0) for i in (0, 1))
    mode = "normalize" if node.version >= 11 else "ignore_negative"
    return op.OneHot(indices, as_scalar(op, depth), on, off, axis=axis, negative_indices_mode=mode)


@onnx.lowers("NonZero")
def non_zero(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """onnx.NonZero(x) -> opset3.NonZero(x); strings are compared with the empty string."""
    if element_of(x) == string:
        known = node.constant(0)
        if known is not None and known.ndim:
            # A StringTensorUnpack of a constant is not folded, so the result is computed here.
            return op.constant(np.stack(np.nonzero(known)).astype(np.int64))
        texts = unpacked(op, x)
        x = op.Subtract(texts.ends, texts.begins)
    return op.NonZero(x)


def as_index(node: LoweringNode, op: OpBuilder, index: int) -> SSAValue:
    """Operand `index`, of any numeric element type, converted to an integer type of indices."""
    value = node.operand(index)
    if node.element(index) in (si32, si64):
        return value
    known = node.constant(index)
    return op.convert(value, si64) if known is None else op.constant(integer_array(known))
