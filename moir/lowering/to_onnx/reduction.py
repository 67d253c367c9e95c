"""Reductions and running sums."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, ui8
from moir.dialects.shapes import rank_of
from moir.lowering.binder import LoweringNode
from moir.lowering.to_onnx.builder import OnnxBuilder, Operand
from moir.lowering.to_onnx.table import opset


def _axes(node: LoweringNode, op: OnnxBuilder, axes: SSAValue) -> Operand:
    """The axes of a reduction: integers if they are constant, else a value.

    Raises ConversionError for computed axes in versions that need constant ones.
    """
    constant = node.constant_integers(1)
    if constant is not None:
        return list(constant)
    if op.version < 18:
        node.fail("its axes are not constant, and an attribute before version 18 of the operator set", hint="give --opset 18 or newer")
    return op.vector(axes)


def _reduction(kind: str) -> None:
    @opset.lowers(kind)
    def reduction(node: LoweringNode, op: OnnxBuilder, x: SSAValue, axes: SSAValue, *, keep_dims: bool = False) -> SSAValue:
        along = _axes(node, op, axes)
        if along == []:
            return op.Abs(x) if kind in ("ReduceL1", "ReduceL2") else op.Identity(x)
        return op.reduced(kind, x, along, keepdims=keep_dims)

    reduction.__name__ = kind


for _kind in ("ReduceL1", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum"):
    _reduction(_kind)


def _logical(kind: str, of_numbers: str) -> None:
    @opset.lowers(kind)
    def logical(node: LoweringNode, op: OnnxBuilder, x: SSAValue, axes: SSAValue, *, keep_dims: bool = False) -> SSAValue:
        along = _axes(node, op, axes)
        if along == []:
            return op.Identity(x)
        return op.Cast(op.reduced(of_numbers, op.Cast(x, to=ui8), along, keepdims=keep_dims), to=boolean)

    logical.__name__ = kind


_logical("ReduceLogicalAnd", "ReduceMin")
_logical("ReduceLogicalOr", "ReduceMax")


@opset.lowers("CumSum")
def cum_sum(op: OnnxBuilder, x: SSAValue, axis: SSAValue, *, exclusive: bool = False, reverse: bool = False) -> SSAValue:
    """opset3.CumSum(x, axis) -> onnx.CumSum(x, axis)"""
    scalar = axis if rank_of(axis) == 0 else op.Reshape(axis, [])
    return op.CumSum(x, scalar, exclusive=int(exclusive), reverse=int(reverse))
