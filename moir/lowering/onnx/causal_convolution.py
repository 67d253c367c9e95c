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


ACTIVATIONS = ("none", "silu", "swish")

OF_DEVICES = {"state_channels_last": -1, "state_length": 0, "input_channels": 0, "input_channel_offset": 0, "state_update_capacity": 0}
"""Attributes of com.microsoft that only the kernel of one device reads, each with the value that has no effect."""


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

    With weights of dynamic shape: the sum of the products of windows of the data with the weights.
    """
    return _convolution_and_state(node, op, (input, weight, bias, past_state), activation, 1)


@onnx.lowers("com.microsoft.CausalConvWithState")
def causal_convolution_of_any_layout(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None = None,
    past_state: SSAValue | None = None,
    *,
    activation: str = "none",
    channels_last: bool = False,
    dilation: int = 1,
    ndim: int = 1,
    state_window: int = 0,
) -> Sequence[SSAValue | None]:
    """onnx.com.microsoft.CausalConvWithState(input, w, bias, past_state) {activation, dilation, channels_last}
    -> onnx.CausalConvWithState, whose weights are `dilation` elements apart

    With `channels_last` data and states are [batch, length, …], where all later dimensions are channels.
    """
    others = [name for name, default in OF_DEVICES.items() if node.integer(name, default) != default]
    if ndim != 1 or state_window or others or dilation < 1:
        node.fail(
            f"ndim {ndim}, state_window {state_window}, dilation {dilation} or {', '.join(others) or 'other'} attributes are not supported"
        )
    if not channels_last:
        return _convolution_and_state(node, op, (input, weight, bias, past_state), activation, dilation)
    data, past = (None if each is None else _channels_first(node, op, each) for each in (input, past_state))
    assert data is not None
    results = _convolution_and_state(node, op, (data, weight, bias, past), activation, dilation)
    channels = op.Slice(op.ShapeOf(input), [2], [END], [1])
    return [None if each is None else _channels_last(op, each, channels, node.known_rank(0)) for each in results]


def _channels_first(node: LoweringNode, op: OpBuilder, value: SSAValue) -> SSAValue:
    """Transpose data [batch, length, …] to [batch, channels, length]; the channels are all dimensions after the second,
    merged.
    """
    flat = value if node.known_rank(0) == 3 else op.Reshape(value, [0, 0, -1], special_zero=True)
    return op.Transpose(flat, [0, 2, 1])


def _channels_last(op: OpBuilder, value: SSAValue, channels: SSAValue, rank: int) -> SSAValue:
    """Transpose data [batch, channels, length] to [batch, length, …] of rank `rank`; `channels` are the sizes of the
    later dimensions.
    """
    last = op.Transpose(value, [0, 2, 1])
    return last if rank == 3 else op.Reshape(last, op.Concat([0, 0], channels, axis=0), special_zero=True)


def _convolution_and_state(
    node: LoweringNode,
    op: OpBuilder,
    operands: tuple[SSAValue, SSAValue, SSAValue | None, SSAValue | None],
    activation: str,
    dilation: int,
) -> Sequence[SSAValue | None]:
    """The convolution of data [N, C, L] with its activation, and the state after it.

    Args:
        node: the node, for errors.
        op: the builder.
        operands: the data, the weights [C, 1, k], the bias and the state before the data.
        activation: the name of the activation.
        dilation: the distance between elements that are multiplied by neighbouring weights.
    """
    data, weight, bias, past_state = operands
    size, length = dimension_value(op, data, 2, (1,)), dimension_value(op, weight, 2, (1,))
    if past_state is None:
        zeros = op.constant([0, 0, 0])
        reach = op.Subtract(length, 1)
        before = op.Concat([0, 0], reach if dilation == 1 else op.Multiply(reach, dilation), axis=0)
        whole = op.Pad(data, before, zeros, op.constant_like(0, data), pad_mode="constant")
    else:
        whole = op.Concat(past_state, data, axis=2)
    shape = shape_of(weight)
    if shape is not None and is_static(shape):
        y = _convolved(op, whole, weight, shape, dilation)
    else:
        first, one = op.constant(0), op.constant(1)
        steps, taps = (op.Range(first, as_scalar(op, count), one, output_type=si64) for count in (size, length))
        windows = op.Gather(whole, op.Add(op.Unsqueeze(steps, [1]), taps if dilation == 1 else op.Multiply(taps, dilation)), 2)
        columns = op.Reshape(weight, op.Concat([1, -1, 1], length, axis=0), special_zero=False)
        y = op.ReduceSum(op.Multiply(windows, columns), [3], keep_dims=False)
    if bias is not None:
        y = op.Add(y, op.Reshape(bias, [1, -1, 1], special_zero=False))
    if activation not in ACTIVATIONS:
        node.fail(f"activation {activation!r} is not none, silu or swish")
    present = op.Slice(whole, size, [END], [1], [2]) if node.is_used(1) else None
    return [y if activation == "none" else op.Swish(y), present][: node.result_count]


def _convolved(op: OpBuilder, whole: SSAValue, weights: SSAValue, shape: Sequence[int], dilation: int) -> SSAValue:
    """The depthwise convolution of data [N, C, L + (k - 1) · dilation] with weights [C, 1, k]: [N, C, L]."""
    array, target = small_constant(op, weights), [shape[0], 1, 1, shape[-1]]
    filters = op.Reshape(weights, target, special_zero=False) if array is None else op.constant(array.reshape(target))
    zero, one = (0,), (1,)
    return op.GroupConvolution(whole, filters, strides=one, pads_begin=zero, pads_end=zero, dilations=(dilation,), auto_pad="explicit")
