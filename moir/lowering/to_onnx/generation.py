"""Ranges, identity matrices and random numbers."""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import f32, si32, si64
from moir.dialects.shapes import rank_of
from moir.lowering.binder import LoweringNode
from moir.lowering.to_onnx.builder import OnnxBuilder
from moir.lowering.to_onnx.table import opset


def _scalar(op: OnnxBuilder, value: SSAValue, element: Attribute) -> SSAValue:
    value = op.cast(value, element)
    return value if rank_of(value) == 0 else op.Reshape(value, [])


@opset.lowers("Range")
def range_(op: OnnxBuilder, start: SSAValue, stop: SSAValue, step: SSAValue, *, output_type: Attribute = f32) -> SSAValue:
    """opset4.Range(start, stop, step) {output_type} -> onnx.Range, in the result's type if the limits are of it or
    whole

    Integers are counted in i64: ONNX's type inference takes a converted shape, as the limits often are, for one of i64.
    """
    computed = si64 if output_type == si32 else output_type
    return op.cast(op.Range(*(_scalar(op, each, computed) for each in (start, stop, step))), output_type)


@opset.lowers("opset1.Range")
def range_1(op: OnnxBuilder, start: SSAValue, stop: SSAValue, step: SSAValue) -> SSAValue:
    """opset1.Range(start, stop, step) -> onnx.Range(start, stop, step)"""
    return op.Range(start, stop, step)


@opset.lowers("Eye")
def eye(
    op: OnnxBuilder,
    rows: SSAValue,
    columns: SSAValue,
    diagonal: SSAValue,
    batch: SSAValue | None = None,
    *,
    output_type: Attribute,
) -> SSAValue:
    """opset9.Eye(rows, columns, diagonal, batch) -> a matrix, or a batch of them, with ones on a diagonal"""
    of_rows, of_columns = (op.Range(0, _scalar(op, each, si64), 1) for each in (rows, columns))
    shifted = op.Add(op.unsqueezed(of_rows, 1), _scalar(op, diagonal, si64))
    matrix = op.Cast(op.Equal(shifted, op.unsqueezed(of_columns, 0)), to=output_type)
    if batch is None:
        return matrix
    return op.Expand(matrix, op.joined(op.vector(batch), op.Shape(matrix)))


@opset.lowers("RandomUniform")
def random_uniform(
    node: LoweringNode,
    op: OnnxBuilder,
    shape: SSAValue,
    low: SSAValue,
    high: SSAValue,
    *,
    output_type: Attribute,
    op_seed: int = 0,
) -> SSAValue:
    """opset8.RandomUniform(shape, low, high) -> other random numbers between both limits, by onnx.RandomUniformLike"""
    zeros = op.ConstantOfShape(op.vector(shape))
    numbers = op.RandomUniformLike(zeros, low=0.0, high=1.0, dtype=f32, seed=float(op_seed) if op_seed else None)
    scaled = op.cast(numbers, node.element(1))
    low = low if rank_of(low) == 0 else op.Reshape(low, [])
    high = high if rank_of(high) == 0 else op.Reshape(high, [])
    return op.cast(op.Add(op.Mul(scaled, op.Sub(high, low)), low), output_type)
