"""Functions of `tf.nn`: convolutions, pooling, normalizations, activation functions, losses."""

from __future__ import annotations

from typing import Any, cast

from xdsl.ir import SSAValue

from moir.lowering.keras.tensorflow.calls import Call, Tensor, function

_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def _format(call: Call, data_format: object, axes: int) -> str:
    """The layout of data with `axes` spatial axes, such as NHWC; channel-last if `data_format` is None.

    Raises ConversionError for another layout.
    """
    known = _FORMATS[axes]
    if data_format is None:
        return known[0]
    if data_format not in known:
        call.fail(f"the data format {data_format!r} is none of {', '.join(known)}")
    return str(data_format)


def _windows(call: Call, value: Tensor, axes: int, data_format: str, default: int = 1) -> list[int]:
    """Sizes of windows, strides or dilations for all dimensions, with 1 for those of the batch and the channels.

    Args:
        call: the call.
        value: one size for all spatial axes, a size for each of them, or a size for each dimension; None for the
            default.
        axes: the number of spatial axes.
        data_format: the layout, such as "NHWC".
        default: the size if `value` is None.

    Raises ConversionError for another number of sizes.
    """
    numbers = [default] if value is None else call.numbers(value, "sizes")
    if len(numbers) == axes + 2:
        return numbers
    if len(numbers) not in (1, axes):
        call.fail(f"it has {len(numbers)} sizes for {axes} spatial axes")
    spatial = numbers * axes if len(numbers) == 1 else numbers
    return [1, 1, *spatial] if data_format.startswith("NC") else [1, *spatial, 1]


def _padding(call: Call, padding: Tensor) -> dict[str, object]:
    """The attributes for an argument `padding`: SAME or VALID, or a list with a pair of numbers for each dimension."""
    if isinstance(padding, str):
        return {"padding": padding.upper()}
    pairs = [each for pair in cast("list[Any]", padding) for each in call.numbers(pair, "pads")]
    return {"padding": "EXPLICIT", "explicit_paddings": pairs}


_CONVOLUTIONS = {1: "Conv2D", 2: "Conv2D", 3: "Conv3D"}


def _convolution(
    call: Call, input: Tensor, filters: Tensor, strides: Tensor, padding: Tensor, data_format: object, dilations: Tensor, axes: int
) -> SSAValue:
    layout = _format(call, data_format, axes)
    data, weights = call.alike(input, filters)
    steps, rates = _windows(call, strides, axes, layout), _windows(call, dilations, axes, layout)
    if axes > 1:
        pads = _padding(call, padding)
        return call.raw(_CONVOLUTIONS[axes], data, weights, strides=steps, dilations=rates, data_format=layout, **pads)
    # One spatial axis is the second of two, as in TensorFlow.
    place = 2 if layout == "NCW" else 1
    if not isinstance(padding, str):
        call.fail("explicit pads of one axis are not supported")
    wide = call.raw(
        "Conv2D",
        call.op.Unsqueeze(data, [place]),
        call.op.Unsqueeze(weights, [0]),
        strides=_with_axis(steps, place),
        dilations=_with_axis(rates, place),
        data_format="NCHW" if layout == "NCW" else "NHWC",
        padding=padding.upper(),
    )
    return call.raw("Squeeze", wide, squeeze_dims=[place])


def _with_axis(entries: list[int], place: int) -> list[int]:
    return [*entries[:place], 1, *entries[place:]]


@function("nn.conv2d")
def conv2d(
    call: Call, input: Tensor, filters: Tensor, strides: Tensor, padding: Tensor, data_format: object = None, dilations: Tensor = None
) -> SSAValue:
    """tf.nn.conv2d: tf.Conv2D"""
    return _convolution(call, input, filters, strides, padding, data_format, dilations, 2)


@function("nn.conv3d")
def conv3d(
    call: Call, input: Tensor, filters: Tensor, strides: Tensor, padding: Tensor, data_format: object = None, dilations: Tensor = None
) -> SSAValue:
    """tf.nn.conv3d: tf.Conv3D"""
    return _convolution(call, input, filters, strides, padding, data_format, dilations, 3)


@function("nn.conv1d")
def conv1d(
    call: Call, input: Tensor, filters: Tensor, stride: Tensor, padding: Tensor, data_format: object = None, dilations: Tensor = None
) -> SSAValue:
    """tf.nn.conv1d: tf.Conv2D with a further axis"""
    return _convolution(call, input, filters, stride, padding, data_format, dilations, 1)


@function("nn.convolution")
def convolution(
    call: Call,
    input: Tensor,
    filters: Tensor,
    strides: Tensor = None,
    padding: Tensor = "VALID",
    data_format: object = None,
    dilations: Tensor = None,
) -> SSAValue:
    """tf.nn.convolution: as conv1d, conv2d or conv3d, by the rank of the data"""
    axes = call.rank(call.tensor(input)) - 2
    if axes not in _FORMATS:
        call.fail(f"a convolution over {axes} axes is not supported")
    return _convolution(call, input, filters, strides, padding, data_format, dilations, axes)


@function("nn.atrous_conv2d")
def atrous_conv2d(call: Call, value: Tensor, filters: Tensor, rate: int, padding: str) -> SSAValue:
    """tf.nn.atrous_conv2d: tf.Conv2D with dilations"""
    return _convolution(call, value, filters, None, padding, None, rate, 2)


@function("nn.depthwise_conv2d")
def depthwise_conv2d(
    call: Call, input: Tensor, filter: Tensor, strides: Tensor, padding: Tensor, data_format: object = None, dilations: Tensor = None
) -> SSAValue:
    """tf.nn.depthwise_conv2d: tf.DepthwiseConv2dNative"""
    layout = _format(call, data_format, 2)
    steps, rates = _windows(call, strides, 2, layout), _windows(call, dilations, 2, layout)
    pads = _padding(call, padding)
    return call.raw("DepthwiseConv2dNative", *call.alike(input, filter), strides=steps, dilations=rates, data_format=layout, **pads)


@function("nn.separable_conv2d")
def separable_conv2d(
    call: Call,
    input: Tensor,
    depthwise_filter: Tensor,
    pointwise_filter: Tensor,
    strides: Tensor,
    padding: Tensor,
    data_format: object = None,
    dilations: Tensor = None,
) -> SSAValue:
    """tf.nn.separable_conv2d: tf.DepthwiseConv2dNative and tf.Conv2D"""
    deep = depthwise_conv2d(call, input, depthwise_filter, strides, padding, data_format, dilations)
    return _convolution(call, deep, pointwise_filter, None, "VALID", data_format, None, 2)


@function("nn.conv2d_transpose")
def conv2d_transpose(
    call: Call,
    input: Tensor,
    filters: Tensor,
    output_shape: Tensor,
    strides: Tensor,
    padding: Tensor = "SAME",
    data_format: object = None,
    dilations: Tensor = None,
) -> SSAValue:
    """tf.nn.conv2d_transpose: tf.Conv2DBackpropInput"""
    layout = _format(call, data_format, 2)
    data, weights = call.alike(input, filters)
    steps, rates = _windows(call, strides, 2, layout), _windows(call, dilations, 2, layout)
    pads = _padding(call, padding)
    sizes = call.integers(output_shape)
    return call.raw("Conv2DBackpropInput", sizes, weights, data, strides=steps, dilations=rates, data_format=layout, **pads)


# Pooling

_POOLS = {("AVG", 2): "AvgPool", ("AVG", 3): "AvgPool3D", ("MAX", 2): "MaxPool", ("MAX", 3): "MaxPool3D"}


def _pool(
    call: Call, kind: str, input: Tensor, ksize: Tensor, strides: Tensor, padding: Tensor, data_format: object, axes: int
) -> SSAValue:
    layout = _format(call, data_format, axes)
    data = call.tensor(input)
    sizes, steps = _windows(call, ksize, axes, layout), _windows(call, strides, axes, layout)
    if axes == 1:
        if not isinstance(padding, str):
            call.fail("explicit pads of one axis are not supported")
        place = 2 if layout == "NCW" else 1
        data, sizes, steps = call.op.Unsqueeze(data, [place]), _with_axis(sizes, place), _with_axis(steps, place)
        layout = "NCHW" if layout == "NCW" else "NHWC"
        wide = call.raw(_POOLS[kind, 2], data, ksize=sizes, strides=steps, data_format=layout, padding=padding.upper())
        return call.raw("Squeeze", wide, squeeze_dims=[place])
    return call.raw(_POOLS[kind, axes], data, ksize=sizes, strides=steps, data_format=layout, **_padding(call, padding))


@function(*(f"nn.{kind}_pool{axes}d" for kind in ("avg", "max") for axes in (1, 2, 3)))
def pool_of_axes(call: Call, input: Tensor, ksize: Tensor, strides: Tensor, padding: Tensor, data_format: object = None) -> SSAValue:
    """tf.nn.max_pool2d: tf.MaxPool; likewise the other maxima and averages over one to three axes"""
    name = call.node.text("function")
    return _pool(call, name[3:6].upper(), input, ksize, strides, padding, data_format, int(name[-2]))


@function("nn.avg_pool", "nn.max_pool")
def pool_by_rank(call: Call, input: Tensor, ksize: Tensor, strides: Tensor, padding: Tensor, data_format: object = None) -> SSAValue:
    """tf.nn.max_pool: tf.MaxPool or tf.MaxPool3D, by the rank of the data; likewise tf.nn.avg_pool"""
    axes = call.rank(call.tensor(input)) - 2
    if axes not in _FORMATS:
        call.fail(f"pooling over {axes} axes is not supported")
    return _pool(call, call.node.text("function")[3:6].upper(), input, ksize, strides, padding, data_format, axes)


@function("nn.pool")
def pool(
    call: Call,
    input: Tensor,
    window_shape: Tensor,
    pooling_type: str,
    strides: Tensor = None,
    padding: Tensor = "VALID",
    data_format: object = None,
    dilations: Tensor = None,
) -> SSAValue:
    """tf.nn.pool: as avg_pool or max_pool, without dilations"""
    axes = call.rank(call.tensor(input)) - 2
    if axes not in _FORMATS or (dilations is not None and any(each != 1 for each in call.numbers(dilations, "dilations"))):
        call.fail("pooling with dilations, or over more than three axes, is not supported")
    return _pool(call, pooling_type.upper(), input, window_shape, strides, padding, data_format, axes)


@function("nn.max_pool_with_argmax")
def max_pool_with_argmax(
    call: Call,
    input: Tensor,
    ksize: Tensor,
    strides: Tensor,
    padding: str,
    data_format: object = None,
    output_dtype: object = "int64",
    include_batch_in_index: bool = False,
) -> list[SSAValue]:
    """tf.nn.max_pool_with_argmax: tf.MaxPoolWithArgmax"""
    layout = _format(call, data_format, 2)
    sizes, steps = _windows(call, ksize, 2, layout), _windows(call, strides, 2, layout)
    named = {"padding": padding.upper(), "Targmax": call.element(output_dtype), "include_batch_in_index": include_batch_in_index}
    return call.results("MaxPoolWithArgmax", 2, call.tensor(input), ksize=sizes, strides=steps, **named)


# Normalizations and activation functions


@function("nn.bias_add")
def bias_add(call: Call, value: Tensor, bias: Tensor, data_format: str | None = None) -> SSAValue:
    """tf.nn.bias_add: tf.BiasAdd"""
    layout = "NCHW" if data_format is not None and data_format.startswith("NC") else "NHWC"
    return call.raw("BiasAdd", *call.alike(value, bias), data_format=layout)


@function("nn.batch_normalization")
def batch_normalization(
    call: Call, x: Tensor, mean: Tensor, variance: Tensor, offset: Tensor, scale: Tensor, variance_epsilon: float
) -> SSAValue:
    """tf.nn.batch_normalization: x · factor + offset - mean · factor

    The factor is tf.Rsqrt(variance + epsilon) · scale.
    """
    data, center, spread = call.alike(x, mean, variance)
    factor = call.raw("Rsqrt", call.raw("AddV2", spread, call.number_like(variance_epsilon, spread)))
    if scale is not None:
        factor = call.raw("Mul", factor, call.alike(data, scale)[1])
    shift = call.raw("Neg", call.raw("Mul", center, factor))
    if offset is not None:
        shift = call.raw("AddV2", call.alike(data, offset)[1], shift)
    return call.raw("AddV2", call.raw("Mul", data, factor), shift)


@function("nn.softmax", "nn.log_softmax")
def softmax(call: Call, logits: Tensor, axis: Tensor = None, dim: Tensor = None) -> SSAValue:
    """tf.nn.softmax: tf.Softmax along an axis; likewise tf.nn.log_softmax"""
    chosen = dim if axis is None else axis
    data = call.tensor(logits)
    (axis_,) = call.axes(-1 if chosen is None else chosen, data)
    rank = call.rank(data)
    order = [each for each in range(rank) if each != axis_] + [axis_]
    kind = "LogSoftmax" if call.node.text("function").endswith("log_softmax") else "Softmax"
    result = call.raw(kind, call.op.Transpose(data, order) if axis_ != rank - 1 else data)
    return call.op.Transpose(result, [order.index(each) for each in range(rank)]) if axis_ != rank - 1 else result


@function("nn.silu", "nn.swish")
def silu(call: Call, features: Tensor, beta: Tensor = 1.0) -> SSAValue:
    """tf.nn.silu: x · tf.Sigmoid(beta · x)"""
    data, factor = call.alike(features, beta)
    return call.raw("Mul", data, call.raw("Sigmoid", call.raw("Mul", data, factor)))


@function("nn.crelu")
def crelu(call: Call, features: Tensor, axis: int = -1) -> SSAValue:
    """tf.nn.crelu: tf.Relu of the data and of the negative data, joined"""
    data = call.tensor(features)
    return call.raw("Relu", call.raw("ConcatV2", data, call.raw("Neg", data), call.integers(axis)))


@function("nn.sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy(call: Call, labels: Tensor = None, logits: Tensor = None) -> SSAValue:
    """tf.nn.sigmoid_cross_entropy_with_logits: max(x, 0) - x · labels + log(1 + exp(-|x|))"""
    x, wanted = call.alike(logits, labels)
    small = call.raw("Log1p", call.raw("Exp", call.raw("Neg", call.raw("Abs", x))))
    return call.raw("AddV2", call.raw("Sub", call.raw("Relu", x), call.raw("Mul", x, wanted)), small)


@function("nn.softmax_cross_entropy_with_logits")
def softmax_cross_entropy(call: Call, labels: Tensor, logits: Tensor, axis: int = -1) -> SSAValue:
    """tf.nn.softmax_cross_entropy_with_logits: the negative sum of labels · tf.LogSoftmax along the last axis"""
    x, wanted = call.alike(logits, labels)
    if call.axes(axis, x) != [call.rank(x) - 1]:
        call.fail(f"classes along the axis {axis} are not supported", "transpose the tensors so that it is the last one")
    return call.raw("Neg", call.reduced("Sum", call.raw("Mul", wanted, call.raw("LogSoftmax", x)), -1))


@function("nn.dropout")
def dropout(call: Call, x: Tensor, rate: Tensor = 0, noise_shape: object = None, seed: object = None) -> SSAValue:
    """tf.nn.dropout: the tensor for a rate of 0; any other is random at inference, too"""
    del noise_shape, seed
    if rate != 0:
        call.fail("it leaves out random elements at inference, too", "use the layer Dropout in its place")
    return call.tensor(x)
