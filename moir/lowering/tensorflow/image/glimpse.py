"""Glimpses: windows of a given size around computed positions in images, with zeros outside of the images.

    %y = tf.ExtractGlimpseV2(%x, [h, w], %offsets) {noise = "zero"}
->  %0 = opset8.Gather(opset8.Gather(%x, rows, 1), columns, 2) {batch_dims = 1}
    %y = opset1.Select(inside, %0, 0)

Source: tensorflow/core/kernels/image/attention_ops.cc.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si64
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


@tf.lowers("ExtractGlimpseV2")
def glimpse(node: LoweringNode, op: OpBuilder, input: SSAValue, *, uniform_noise: bool = True, noise: str = "uniform") -> SSAValue:
    """tf.ExtractGlimpseV2(x, size, offsets) {centered, normalized, noise}
    -> opset8.Gather of the rows and columns of each glimpse, and opset1.Select of 0 outside of the image

    Other noise than zeros raises an error.
    """
    if uniform_noise or noise != "zero":
        node.fail("glimpses with noise around the image are not supported", hint='give the node noise="zero" and uniform_noise=False')
    data, sizes = input, op.ShapeOf(input)
    insides: list[SSAValue] = []
    for axis in (0, 1):
        positions, size = _positions(node, op, axis, op.Gather(sizes, axis + 1, 0))
        last = op.Subtract(size, 1)
        inside = op.LogicalAnd(op.GreaterEqual(positions, 0), op.LessEqual(positions, last))
        insides.append(op.Unsqueeze(inside, [2, 3] if axis == 0 else [1, 3]))
        data = op.Gather(data, op.Maximum(op.Minimum(positions, last), 0), axis + 1, batch_dims=1)
    return op.Select(op.LogicalAnd(*insides), data, op.constant_like(0, data))


def _positions(node: LoweringNode, op: OpBuilder, axis: int, size: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The indices of the rows (axis 0) or columns (axis 1) of each glimpse [N, size of a glimpse], and the size of the
    image.

    An offset is a position in pixels, or if `normalized` a fraction of the image. If `centered`, it is relative to the
    middle of the image: a normalized offset, from -1 to 1, is the position of the glimpse's middle, any other offset
    that of its first pixel.
    """
    offset = op.Gather(op.convert(node.operand(2), f32), [axis], 1)
    taken, extent = op.Gather(node.operand(1), axis, 0), op.convert(size, f32)
    centered, normalized = node.flag("centered", True), node.flag("normalized", True)
    if normalized:
        offset = op.Multiply(offset, op.Multiply(extent, 0.5) if centered else extent)
    if centered:
        offset = op.Add(offset, op.Multiply(extent, 0.5))
    if centered and normalized:
        offset = op.Subtract(offset, op.Multiply(op.convert(taken, f32), 0.5))
    steps = op.Range(op.constant(0, si64), op.convert(taken, si64), op.constant(1, si64), output_type=si64)
    return op.Add(op.convert(offset, si64), steps), size
