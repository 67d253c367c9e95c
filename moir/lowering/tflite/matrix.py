"""Products of matrices."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import INTEGER_TYPES
from moir.dialects.shapes import element_of, rank_of, shape_of, size_along
from moir.lowering.binder import LoweringNode
from moir.lowering.table import Replacement
from moir.lowering.tflite.convolution import with_bias
from moir.lowering.tflite.table import tflite
from moir.lowering.tflite.tensorflow_operations import lowered_as
from moir.rewriting.builder import OpBuilder


@tflite.lowers("BATCH_MATMUL")
def batch_product(node: LoweringNode, op: OpBuilder, x: SSAValue, y: SSAValue, *, adj_x: bool = False, adj_y: bool = False) -> Replacement:
    """tflite.BATCH_MATMUL(x, y) {adj_x, adj_y} -> what tf.BatchMatMulV3(x, y) {adj_x, adj_y, Tout} lowers to

    Integers that are not quantized are added in the type that the file declares for the result.
    """
    attributes: dict[str, object] = {"adj_x": adj_x, "adj_y": adj_y}
    element = element_of(node.op.results[0])
    if element in INTEGER_TYPES:
        attributes["Tout"] = element
    return lowered_as(node, op, "BatchMatMulV3", [x, y], attributes)


@tflite.lowers("FULLY_CONNECTED")
def fully_connected(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    weights: SSAValue,
    bias: SSAValue | None = None,
    *,
    weights_format: str = "DEFAULT",
    keep_num_dims: bool = False,
) -> SSAValue:
    """tflite.FULLY_CONNECTED(x, w [out, in], b) -> opset1.Add(opset1.MatMul(x, w) {transpose_b = true}, b)

    x becomes [-1, in], unless the number of dimensions is kept.
    """
    if weights_format != "DEFAULT":
        node.fail(f"its weights are in the format {weights_format}", hint="convert the original model without shuffled weights")
    width = size_along(shape_of(weights) or (-1, -1), -1)
    rows = shape_of(input)
    is_matrix = rank_of(input) == 2 and rows is not None and (rows[1] == width or width < 0)
    if not is_matrix and not keep_num_dims:
        if width < 0:
            node.fail("the shape of its weights is unknown")
        input = op.Reshape(input, [-1, width], special_zero=False)
    return with_bias(node, op, op.MatMul(input, weights, transpose_b=True), bias)
