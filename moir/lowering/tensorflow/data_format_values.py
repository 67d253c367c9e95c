"""Conversion of 1-D tensors of sizes, and of tensors of axes, from one data format to another.

TensorFlow's optimizer inserts these operations around others whose data format it changes.

    %y = tf.DataFormatVecPermute(%sizes) {src_format = "NHWC", dst_format = "NCHW"}
->  %y = opset8.Gather(%sizes, [0, 3, 1, 2], 0)
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.shapes import element_of, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


def formats(node: LoweringNode) -> tuple[str, str]:
    """The data formats of operand and result. Raises ConversionError if one has an axis that the other lacks."""
    source, target = node.text("src_format", "NHWC"), node.text("dst_format", "NCHW")
    if sorted(source) != sorted(target):
        node.fail(f"the data formats {source} and {target} have different axes")
    return source, target


@tf.lowers("DataFormatDimMap")
def changed_axes(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.DataFormatDimMap(axes) {src_format = NHWC, dst_format = NCHW}
    -> opset8.Gather([0, 2, 3, 1], axes, 0), the position of each axis in the other format
    """
    source, target = formats(node)
    axes = op.constant(np.array([target.index(axis) for axis in source]), element_of(x))
    return op.Gather(axes, op.FloorMod(x, len(source)), 0)


@tf.lowers("DataFormatVecPermute")
def changed_order(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """tf.DataFormatVecPermute(sizes) {src_format = NHWC, dst_format = NCHW} -> opset8.Gather(sizes, [0, 3, 1, 2], 0)

    If the operand has sizes of the spatial axes only, these are permuted among themselves.
    """
    source, target = formats(node)
    shape = shape_of(x)
    count = -1 if shape is None or not shape else shape[0]
    if count == len(source) - 2:
        source, target = (each.replace("N", "").replace("C", "") for each in (source, target))
    elif count != len(source):
        node.fail("the number of its axes is unknown", hint="give the model's inputs static shapes")
    return op.Gather(x, [source.index(axis) for axis in target], 0)
