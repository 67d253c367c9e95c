"""Convolutions of XLA: in any layout, over padded and dilated data, with groups.

    %y = tf.XlaConvV2(%x, %w, [2, 2], [[0, 1], [0, 1]], [1, 1], [1, 1], 1) {input_batch_dimension = 0, …}
->  %0 = opset1.Convolution(Transpose(%x), Transpose(%w)) {strides = [2, 2], pads_end = [1, 1], …}
    %y = opset1.Transpose(%0)

The frontend has decoded the attribute `dimension_numbers` into the roles of the dimensions.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.expansions.windows import SlidingWindow
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.table import tf
from moir.lowering.tensorflow.xla.movement import constant_list
from moir.lowering.tensorflow.xla.products import result_element
from moir.lowering.xla.convolution import convolved
from moir.rewriting.builder import OpBuilder


@tf.lowers("XlaConv", "XlaConvV2")
def convolution(
    node: LoweringNode, op: OpBuilder, lhs: SSAValue, rhs: SSAValue, *, input_spatial_dimensions: tuple[int, ...] = ()
) -> SSAValue:
    """tf.XlaConvV2(x, w, strides, padding, dilation of x, dilation of w, groups) {dimension numbers}
    -> Transpose(opset1.Convolution(Transpose(x), Transpose(w))); opset1.ConvolutionBackpropData if x is dilated
    """
    element, axes = result_element(node), len(input_spatial_dimensions)
    strides = constant_list(node, 2, "strides", axes)
    pads = constant_list(node, 3, "paddings", 2 * axes)
    spread, dilations = (constant_list(node, index, "dilations", axes) for index in (4, 5))
    groups = constant_list(node, 6, "groups", 1)[0]
    window = SlidingWindow(strides, dilations, pads[::2], pads[1::2], "explicit")
    data, filters = (op.convert(each, element) for each in (lhs, rhs))
    return convolved(node, op, data, filters, window, spread, groups)
