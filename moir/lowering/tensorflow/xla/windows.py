"""Reductions of XLA over windows.

    %y = tf.XlaReduceWindow(%x, -inf, [1, 2, 2, 1], [1, 2, 2, 1], …) {computation: (a, b) -> Maximum(a, b)}
->  %y = Transpose(opset14.MaxPool(Transpose(%x)) {kernel = [2, 2], strides = [2, 2]})
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import element_of
from moir.lowering.binder import LoweringNode
from moir.lowering.control_flow.bodies import graph_of
from moir.lowering.tensorflow.table import tf
from moir.lowering.tensorflow.xla.movement import constant_list
from moir.lowering.xla.reduction import combination_of
from moir.lowering.xla.windows import AxisWindow, reduced_windows
from moir.rewriting.builder import OpBuilder


def windows_of(node: LoweringNode) -> list[AxisWindow]:
    """The windows of a node along each axis, from constant operands.

    Raises ConversionError if they are computed, have a wrong length, or a size, stride or dilation is below 1.
    """
    rank = node.known_rank(0)
    names = ("window sizes", "strides", "dilations of the data", "dilations of the windows")
    columns = [constant_list(node, index, name, rank) for index, name in enumerate(names, start=2)]
    if any(min(column, default=1) < 1 for column in columns):
        node.fail("a size, stride or dilation is below 1")
    pads = constant_list(node, 6, "paddings", 2 * rank)
    return [AxisWindow(*row) for row in zip(*columns, pads[::2], pads[1::2], strict=True)]


@tf.lowers("XlaReduceWindow")
def reduce_window(node: LoweringNode, op: OpBuilder, input: SSAValue, init_value: SSAValue) -> SSAValue:
    """tf.XlaReduceWindow(x, init, sizes, strides, dilations, dilations, padding) {computation}
    -> opset14.MaxPool, opset14.AvgPool times the size, opset3.CumSum, or slices that are combined
    """
    kind = combination_of(node, graph_of(node, "computation"), element_of(input))
    return reduced_windows(node, op, kind, init_value, windows_of(node))
