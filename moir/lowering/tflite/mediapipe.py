"""Custom operators of MediaPipe's networks that segment images: pooling and transposed convolution.

Their options are the memory of a structure of C, whose fields are i32.

Source: mediapipe/util/tflite/operations, and builtin_op_data.h of TensorFlow Lite 2.21.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import DataAttr
from moir.dialects.element_types import f32, si32
from moir.dialects.shapes import is_static, shape_of
from moir.expansions.windows import padded_window
from moir.lowering.binder import LoweringNode
from moir.lowering.table import Replacement
from moir.lowering.tensorflow.attributes.data_format import channel_first, channel_last
from moir.lowering.tflite.fused_activation import with_activation
from moir.lowering.tflite.quantization import transposed_weights
from moir.lowering.tflite.table import tflite
from moir.rewriting.builder import OpBuilder

PADDINGS = {1: "SAME", 2: "VALID"}
ACTIVATIONS = ("NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT")
"""The names of the values of the C enumeration of activations."""

POOL_FIELDS = ("padding", "stride_width", "stride_height", "filter_width", "filter_height", "activation")
TRANSPOSE_CONV_FIELDS = ("padding", "stride_width", "stride_height")
"""The names of the first fields of the C structures TfLitePoolParams and TfLiteTransposeConvParams, in order."""

INDEX_MARGIN = 0.1
"""A number added to indices within windows, which are floats, before they are rounded down."""


def structure(node: LoweringNode, fields: tuple[str, ...]) -> dict[str, int]:
    """The values of the i32 `fields` of the structure in the options, by their names.

    Raises ConversionError if the options are too short, or a value is not valid.
    """
    options = node.op.properties.get("custom_options")
    data = options.array.tobytes() if isinstance(options, DataAttr) else b""
    if len(data) < 4 * len(fields):
        node.fail(f"its options have {len(data)} bytes, not the {4 * len(fields)} of its fields", hint="the file is damaged")
    values = dict(zip(fields, np.frombuffer(data, "<i4", len(fields)).tolist(), strict=True))
    sizes = [value for name, value in values.items() if name not in ("padding", "activation")]
    if values["padding"] not in PADDINGS or min(sizes) < 1 or not 0 <= values.get("activation", 0) < len(ACTIVATIONS):
        node.fail(f"its options {values} are not those of this operator", hint="the file is damaged")
    return values


def refuse_dynamic_shape(node: LoweringNode) -> NoReturn:
    """Raises ConversionError for an image of dynamic shape."""
    node.fail("the height or width of its input is unknown", hint="say the shapes of the inputs with --input")


@tflite.lowers("MaxPoolingWithArgmax2D")
def max_pool_with_argmax(node: LoweringNode, op: OpBuilder, x: SSAValue) -> Replacement:
    """tflite.MaxPoolingWithArgmax2D(x) -> Transpose(opset8.MaxPool(Transpose(x))),
    and the index of each maximum in its window

    opset14.MaxPool returns the index in the image, y · width + x.
    """
    fields, shape = structure(node, POOL_FIELDS), shape_of(x)
    if shape is None or len(shape) != 4 or not is_static(shape[1:3]):
        refuse_dynamic_shape(node)
    strides, kernel = ([fields[f"{name}_height"], fields[f"{name}_width"]] for name in ("stride", "filter"))
    counts = [
        _window_count(size, width, stride, fields["padding"]) for size, width, stride in zip(shape[1:3], kernel, strides, strict=True)
    ]
    totals = [
        max((count - 1) * stride + width - size, 0) for count, stride, width, size in zip(counts, strides, kernel, shape[1:3], strict=True)
    ]
    begins = [total // 2 for total in totals]
    ends = [total - begin for total, begin in zip(totals, begins, strict=True)]
    window = padded_window(kernel, strides, begins, ends, (1, 1))
    first = channel_first(op, x, 4)
    values, indices = op.MaxPool.parts(2, first, **window, auto_pad="explicit", index_element_type=si32, axis=2)
    pooled = with_activation(node, op, channel_last(op, values, 4), ACTIVATIONS[fields["activation"]])
    if not node.is_used(1):
        return [pooled, None]
    last = channel_last(op, indices, 4)
    # The index of the window's first element in the image, which lies in the padding for the first windows.
    rows, columns = (
        (np.arange(count) * stride - begin).astype(np.int32) for count, stride, begin in zip(counts, strides, begins, strict=True)
    )
    row = op.Divide(last, shape[2], m_pythondiv=True)
    column = op.Subtract(last, op.Multiply(row, shape[2]))
    inside = op.Add(
        op.Multiply(op.Subtract(row, op.constant(rows.reshape(1, -1, 1, 1))), kernel[1]),
        op.Subtract(column, op.constant(columns.reshape(1, 1, -1, 1))),
    )
    return [pooled, op.Add(op.convert(inside, f32), INDEX_MARGIN)]


def _window_count(size: int, width: int, stride: int, padding: int) -> int:
    """The number of windows along a dimension of a size; `width` is the size of a window."""
    return -(-size // stride) if PADDINGS[padding] == "SAME" else max(0, (size - width) // stride + 1)


@tflite.lowers("MaxUnpooling2D")
def max_unpool(node: LoweringNode, op: OpBuilder, x: SSAValue, indices: SSAValue) -> SSAValue:
    """tflite.MaxUnpooling2D(x, indices) -> each element of x at its index in a window of zeros

    opset1.Reshape(Select(Equal(indices, the index of each element of a window), x, 0), [-1, h · height, …])
    """
    fields, shape = structure(node, POOL_FIELDS), shape_of(x)
    strides, kernel = ([fields[f"{name}_height"], fields[f"{name}_width"]] for name in ("stride", "filter"))
    if strides != kernel:
        node.fail(f"windows of {kernel} with strides {strides}, which overlap or leave gaps, are not supported")
    if shape is None or len(shape) != 4 or not is_static(shape[1:]):
        refuse_dynamic_shape(node)
    offsets = np.arange(kernel[0] * kernel[1], dtype=np.int32).reshape(1, 1, kernel[0], 1, kernel[1], 1)
    at = op.Unsqueeze(op.Convert(indices, destination_type=si32), [2, 4])
    spread = op.Select(op.Equal(at, op.constant(offsets)), op.Unsqueeze(x, [2, 4]), 0.0)
    return op.Reshape(spread, [-1, shape[1] * kernel[0], shape[2] * kernel[1], shape[3]], special_zero=False)


@tflite.lowers("Convolution2DTransposeBias")
def transposed_convolution(node: LoweringNode, op: OpBuilder, x: SSAValue, weights: SSAValue, bias: SSAValue) -> SSAValue:
    """tflite.Convolution2DTransposeBias(x, w [out, h, w, in], b)
    -> Add(Transpose(opset1.ConvolutionBackpropData(Transpose(x), Transpose(w))), b)

    The sizes of the result are those of x times the strides; the padding of SAME depends on them.
    """
    fields, shape, kernel = structure(node, TRANSPOSE_CONV_FIELDS), shape_of(x), shape_of(weights)
    if kernel is None or len(kernel) != 4 or not is_static(kernel):
        node.fail(f"its weights have the shape {kernel}, not [out, height, width, in]")
    strides, totals = (fields["stride_height"], fields["stride_width"]), [0, 0]
    if PADDINGS[fields["padding"]] == "SAME":
        if shape is None or len(shape) != 4 or not is_static(shape[1:3]):
            refuse_dynamic_shape(node)
        totals = [max(0, k - (size - 1) % s - 1) for k, size, s in zip(kernel[1:3], shape[1:3], strides, strict=True)]
    result = op.ConvolutionBackpropData(
        channel_first(op, x, 4),
        transposed_weights(op, weights, [3, 0, 1, 2]),
        **padded_window(None, strides, [total // 2 for total in totals], [total - total // 2 for total in totals], (1, 1)),
        auto_pad="explicit",
        output_padding=(0, 0),
    )
    return op.Add(channel_last(op, result, 4), bias)
