"""Causal depthwise convolution with a state: each element of the result depends on the same and earlier elements only.

    %y, %present = onnx.CausalConvWithState(%x, %w, , %past)
->  %present = the last k - 1 elements of Concat(%past, %x), %y = GroupConvolution(Concat(%past, %x), %w)

Without a state the elements before the first one are zeros.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import is_static, shape_of
from moir.expansions.constant_forms import small_constant
from moir.expansions.shape_values import as_scalar, dimension_value
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder

END = 2**31 - 1


@onnx.lowers("CausalConvWithState")
def causal_convolution(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None = None,
    past_state: SSAValue | None = None,
    *,
    activation: str = "none",
) -> Sequence[SSAValue | None]:
    """onnx.CausalConvWithState(input, w, bias, past_state) {activation}
    -> opset1.GroupConvolution(opset1.Concat(past_state, input), w), and the last elements of the Concat

    With weights of unknown sizes: the sum of the products of windows of the data with the weights.
    """
    size, length = dimension_value(op, input, 2, (1,)), dimension_value(op, weight, 2, (1,))
    if past_state is None:
        zeros = op.constant([0, 0, 0])
        before = op.Concat([0, 0], op.Subtract(length, 1), axis=0)
        whole = op.Pad(input, before, zeros, op.constant_like(0, input), pad_mode="constant")
    else:
        whole = op.Concat(past_state, input, axis=2)
    shape = shape_of(weight)
    if shape is not None and is_static(shape):
        y = _convolved(op, whole, weight, shape[0], shape[-1])
    else:
        first, one = op.constant(0), op.constant(1)
        steps, taps = (op.Range(first, as_scalar(op, count), one, output_type=si64) for count in (size, length))
        windows = op.Gather(whole, op.Add(op.Unsqueeze(steps, [1]), taps), 2)
        columns = op.Reshape(weight, op.Concat([1, -1, 1], length, axis=0), special_zero=False)
        y = op.ReduceSum(op.Multiply(windows, columns), [3], keep_dims=False)
    if bias is not None:
        y = op.Add(y, op.Reshape(bias, [1, -1, 1], special_zero=False))
    if activation not in ("none", "silu", "swish"):
        node.fail(f"activation {activation!r} is not none, silu or swish")
    present = op.Slice(whole, size, [END], [1], [2]) if node.is_used(1) else None
    return [y if activation == "none" else op.Swish(y), present][: node.result_count]


def _convolved(op: OpBuilder, whole: SSAValue, weights: SSAValue, channels: int, length: int) -> SSAValue:
    """The depthwise convolution of data [N, C, L + k - 1] with weights [C, 1, k]: [N, C, L]."""
    array, target = small_constant(op, weights), [channels, 1, 1, length]
    filters = op.Reshape(weights, target, special_zero=False) if array is None else op.constant(array.reshape(target))
    zero, one = (0,), (1,)
    return op.GroupConvolution(whole, filters, strides=one, pads_begin=zero, pads_end=zero, dilations=one, auto_pad="explicit")
