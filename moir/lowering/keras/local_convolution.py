"""Convolutions with another kernel at each position: LocallyConnected1D and LocallyConnected2D of Keras 2.

    %y = keras.LocallyConnected1D(%x, %w, %b) {filters = 5, kernel_size = 3}
->  %0 = opset8.Gather(%x, [[0, 1, 2], [1, 2, 3], …])          the window of each position
    %y = Transpose(opset1.MatMul(Transpose(Reshape(%0)), %w)) + %b

This is implementation 1, whose kernel is [positions, window · C_in, C_out]. Implementation 2 has a weight for each pair
of an element of the data and an element of the result, [spatial…, C_in, spatial…, C_out], of which those within a
window are used. Implementation 3 stores only the weights that are used, ordered by the index in the result, then by the
index in the data.

Source: keras/layers/locally_connected and conv_utils.conv_kernel_idxs of Keras 2.15.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.shapes import is_static
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.activation_functions import activated
from moir.lowering.keras.attributes import by_axis, is_channel_last, variables
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder

LARGEST_KERNEL = 1 << 28
"""The largest number of elements of the dense kernel, which has a weight for all pairs of elements of data and result.
"""


@keras.lowers("LocallyConnected1D", "LocallyConnected2D")
def locally_connected(
    node: LoweringNode,
    op: OpBuilder,
    inputs: SSAValue,
    *,
    filters: int,
    kernel_size: tuple[int, ...],
    strides: tuple[int, ...] = (1,),
    padding: str = "valid",
    data_format: str | None = None,
    activation: object | None = None,
    use_bias: bool = True,
    implementation: int = 1,
) -> SSAValue:
    """keras.LocallyConnected1D(x, kernel, bias) -> opset1.MatMul of each window and its kernel, + bias

    Likewise LocallyConnected2D.
    """
    axes, last, weights = node.known_rank(0) - 2, is_channel_last(node, data_format), variables(node)
    if len(weights) != 1 + use_bias:
        node.fail("its kernel or bias is not in the file")
    shape = node.shape(0)
    if shape is None or not is_static(shape[1:]):
        node.fail("the sizes of its input are unknown", hint="give the shape of the input: --input 'NAME[…]'")
    window, steps = by_axis(node, "kernel_size", kernel_size, axes), by_axis(node, "strides", strides, axes)
    if padding not in ("valid", "same") or (padding == "same" and implementation == 1) or min(*window, *steps) < 1:
        node.fail(f"its padding {padding!r} or its window is not possible")
    sizes = tuple(shape[1:-1] if last else shape[2:])
    ends = sizes if padding == "same" else [size - own + 1 for size, own in zip(sizes, window, strict=True)]
    positions = tuple(-(-end // step) for end, step in zip(ends, steps, strict=True))
    if min(positions) < 1:
        node.fail("its window is larger than its input")
    channels = shape[-1] if last else shape[1]
    # [N, spatial…, C], the form in which the result is computed.
    data = inputs if last else op.Transpose(inputs, [0, *range(2, axes + 2), 1])
    if implementation == 1:
        windows = _windows(op, data, positions, window, steps, channels, last=last)
        result = _products(op, windows, weights[0], positions, filters)
    else:
        kernel = _dense_kernel(node, implementation, sizes, positions, window, steps, channels, filters, padding=padding, last=last)
        flat = op.Reshape(data, [-1, math.prod(sizes) * channels], special_zero=False)
        result = op.Reshape(op.MatMul(flat, op.constant(kernel)), [-1, *positions, filters], special_zero=False)
    if not last:
        result = op.Transpose(result, [0, axes + 1, *range(1, axes + 1)])
    if use_bias:
        # The bias is [spatial…, C_out] in both layouts: for channels first, Keras reshapes it without a transposition.
        result = op.Add(result, weights[1] if last else op.Reshape(weights[1], [1, filters, *positions], special_zero=False))
    return activated(node, op, result, activation)


def _windows(
    op: OpBuilder, data: SSAValue, positions: tuple[int, ...], window: tuple[int, ...], steps: tuple[int, ...], channels: int, *, last: bool
) -> SSAValue:
    """[N, spatial…, C] -> [positions, N, window · C], with the channels first in a window if they are in the data.

    Args:
        op: the builder.
        data: the data.
        positions: the number of windows along each axis.
        window: the size of a window along each axis.
        steps: the strides.
        channels: C.
        last: whether the channels are last in the data.
    """
    axes = len(positions)
    for axis in range(axes):
        indices = np.arange(positions[axis])[:, None] * steps[axis] + np.arange(window[axis])
        data = op.Gather(data, indices.astype(np.int32), 1 + 2 * axis)
    # [N, position, window, position, window, C]
    of_places, of_window = [1 + 2 * axis for axis in range(axes)], [2 + 2 * axis for axis in range(axes)]
    channel = [1 + 2 * axes]
    ordered = op.Transpose(data, [*of_places, 0, *of_window, *channel] if last else [*of_places, 0, *channel, *of_window])
    return op.Reshape(ordered, [math.prod(positions), -1, math.prod(window) * channels], special_zero=False)


def _products(op: OpBuilder, windows: SSAValue, kernel: SSAValue, positions: tuple[int, ...], filters: int) -> SSAValue:
    """Each window times the kernel of its position: [N, spatial…, C_out]."""
    result = op.Transpose(op.MatMul(windows, kernel), [1, 0, 2])
    return op.Reshape(result, [-1, *positions, filters], special_zero=False)


def _dense_kernel(
    node: LoweringNode,
    implementation: int,
    sizes: tuple[int, ...],
    positions: tuple[int, ...],
    window: tuple[int, ...],
    steps: tuple[int, ...],
    channels: int,
    filters: int,
    *,
    padding: str,
    last: bool,
) -> Array:
    """The weights for all pairs of elements of data and result, [spatial · C_in, positions · C_out]; zero outside of
    the windows.

    Args:
        node: the layer.
        implementation: 2 or 3, the form in which the layer stores its kernel.
        sizes, positions: the spatial sizes of the data and of the result.
        window, steps: the size of a window and the strides.
        channels, filters: C_in and C_out.
        padding: `valid` or `same`.
        last: whether the channels are last in the data.

    Raises ConversionError if the kernel is computed, too large, or has another number of elements.
    """
    rows, columns = math.prod(sizes), math.prod(positions)
    names = node.texts("weight_names", ())
    stored = node.constant(len(node.values) - len(names))
    if stored is None or rows * columns * channels * filters > LARGEST_KERNEL:
        node.fail("its kernel is computed, or too large")
    connected = np.zeros((*sizes, *positions), bool)
    for position in product(*(range(each) for each in positions)):
        connected[(*(_extent(*each, padding) for each in zip(position, steps, window, sizes, strict=True)), *position)] = True
    mask = np.broadcast_to(connected.reshape(rows, 1, columns, 1), (rows, channels, columns, filters))
    # The axes of the stored kernel: the channels are before the spatial axes if they are so in the data, and the
    # elements of the result are before those of the data in implementation 3.
    order = [0, 1, 2, 3] if last else [1, 0, 3, 2]
    if implementation != 2:
        order = [*order[2:], *order[:2]]
    kept = mask.transpose(order)
    expected = mask.size if implementation == 2 else int(np.count_nonzero(kept))
    if stored.size != expected:
        node.fail(f"its kernel has {stored.size} elements, and {expected} are expected")
    values = np.zeros(kept.shape, stored.dtype)
    values[kept] = stored.reshape(kept.shape)[kept] if implementation == 2 else stored.reshape(-1)
    return values.transpose(np.argsort(order)).reshape(rows * channels, columns * filters)


def _extent(position: int, step: int, window: int, size: int, padding: str) -> slice:
    """The range of elements along an axis of `size` that the window of an output position covers, by stride and
    padding.
    """
    before = window // 2
    center = position * step + (before if padding == "valid" else 0)
    return slice(max(0, center - before), min(size, center + window - before))
