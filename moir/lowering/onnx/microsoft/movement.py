"""Operations of the domain com.microsoft that move elements, and its inverse of matrices.

    %y = onnx.com.microsoft.UnfoldTensor(%x) {dim = 1, size = 3, step = 2}
->  %y = opset1.Transpose(opset8.Gather(%x, indices [windows, 3], 1))
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import normalize_axis
from moir.expansions.shape_values import as_list, dimension
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.generation import number_range
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder

onnx.lowers_each(
    {
        "com.microsoft.Inverse": lambda op, x: op.Inverse(x, adjoint=False),
        "com.microsoft.ExpandDims": lambda op, x, axis: op.Unsqueeze(x, as_list(op, axis)),
    }
)


@onnx.lowers("com.microsoft.Range")
def integer_range(node: LoweringNode, op: OpBuilder, start: SSAValue, limit: SSAValue, delta: SSAValue | None = None) -> SSAValue:
    """onnx.com.microsoft.Range(start, limit, delta) -> onnx.Range; without delta the step is 1"""
    return number_range(node, op, start, limit, op.constant_like(1, start) if delta is None else delta)


@onnx.lowers("com.microsoft.Unique")
def unique(node: LoweringNode, op: OpBuilder, x: SSAValue) -> Sequence[SSAValue]:
    """onnx.com.microsoft.Unique(x) -> opset10.Unique(x) {sorted = false}: values, indices of the values, counts"""
    values, _, indices, counts = op.Unique.results(x, sorted=False)
    return [values, indices, counts][: node.result_count]


@onnx.lowers("com.microsoft.TorchEmbedding")
def embedding(
    op: OpBuilder,
    weight: SSAValue,
    indices: SSAValue,
    _padding_idx: SSAValue | None = None,
    _scale_grad_by_freq: SSAValue | None = None,
) -> SSAValue:
    """onnx.com.microsoft.TorchEmbedding(weight, indices) -> opset8.Gather(weight, indices, 0)

    The other operands are about gradients.
    """
    return op.Gather(weight, indices, 0)


@onnx.lowers("com.microsoft.UnfoldTensor")
def unfold(node: LoweringNode, op: OpBuilder, input: SSAValue, *, dim: int = -1, size: int, step: int = 1) -> SSAValue:
    """onnx.com.microsoft.UnfoldTensor(x) {dim, size, step} -> the windows along an axis, whose elements are last"""
    rank = node.known_rank(0)
    axis = normalize_axis(dim, rank)
    if size < 1 or step < 1:
        node.fail(f"windows of size {size} with step {step} are not possible")
    length = dimension(op, input, axis)
    if isinstance(length, int) and length < size:
        node.fail(f"a dimension of {length} has no window of size {size}")
    starts = op.Range(0, op.Subtract(op.constant(length) if isinstance(length, int) else length, size - 1), step, output_type=si64)
    indices = op.Add(op.Unsqueeze(starts, [1]), op.constant(list(range(size))))
    windows = op.Gather(input, indices, axis)
    return op.transposed(windows, [*range(axis + 1), *range(axis + 2, rank + 1), axis + 1])
