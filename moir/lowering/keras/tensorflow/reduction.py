"""Functions of TensorFlow that reduce tensors, and norms."""

from __future__ import annotations

import math

from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean
from moir.dialects.shapes import element_of
from moir.lowering.keras.tensorflow.calls import Call, Tensor, function

_KINDS = {"all": "All", "any": "Any", "max": "Max", "mean": "Mean", "min": "Min", "prod": "Prod", "sum": "Sum"}


@function(*(f"math.reduce_{name}" for name in _KINDS))
def reduce(call: Call, input_tensor: Tensor, axis: Tensor = None, keepdims: bool = False) -> SSAValue:
    """tf.math.reduce_sum: tf.Sum; likewise the other reductions"""
    return call.reduced(_KINDS[call.node.text("function").rpartition("_")[2]], call.tensor(input_tensor), axis, keep=keepdims)


@function("math.reduce_variance")
def variance(call: Call, input_tensor: Tensor, axis: Tensor = None, keepdims: bool = False) -> SSAValue:
    """tf.math.reduce_variance: the mean of squared differences from the mean"""
    return moments_of(call, call.tensor(input_tensor), axis, keepdims)[1]


@function("math.reduce_std")
def deviation(call: Call, input_tensor: Tensor, axis: Tensor = None, keepdims: bool = False) -> SSAValue:
    """tf.math.reduce_std: the root of the variance"""
    return call.raw("Sqrt", variance(call, input_tensor, axis, keepdims))


def moments_of(call: Call, x: SSAValue, axes: Tensor, keepdims: bool) -> list[SSAValue]:
    """The mean and the variance of x over axes; with `keepdims` these stay as dimensions of size 1."""
    mean = call.reduced("Mean", x, axes, keep=True)
    variance = call.reduced("Mean", call.raw("SquaredDifference", x, mean), axes, keep=keepdims)
    return [mean if keepdims else call.raw("Squeeze", mean, squeeze_dims=call.axes(axes, x)), variance]


@function("nn.moments")
def moments(call: Call, x: Tensor, axes: Tensor, shift: object = None, keepdims: bool = False) -> list[SSAValue]:
    """tf.nn.moments: the mean, and the mean of squared differences from it"""
    del shift
    return moments_of(call, call.tensor(x), axes, keepdims)


@function("math.count_nonzero")
def count_nonzero(call: Call, input: Tensor, axis: Tensor = None, keepdims: bool = False, dtype: object = "int64") -> SSAValue:
    """tf.math.count_nonzero: the number of nonzero elements along axes, as a tf.Sum of tf.NotEqual(x, 0)."""
    data = call.tensor(input)
    is_other = data if element_of(data) == boolean else call.raw("NotEqual", data, call.number_like(0, data))
    return call.reduced("Sum", call.op.convert(is_other, call.element(dtype)), axis, keep=keepdims)


@function("math.zero_fraction")
def zero_fraction(call: Call, value: Tensor) -> SSAValue:
    """tf.math.zero_fraction: the share of elements that are 0."""
    data = call.tensor(value)
    return call.reduced("Mean", call.op.convert(call.raw("Equal", data, call.number_like(0, data)), call.element("float32")), None)


@function("math.l2_normalize")
def l2_normalize(call: Call, x: Tensor, axis: Tensor = None, epsilon: float = 1e-12, dim: Tensor = None) -> SSAValue:
    """tf.math.l2_normalize: x · tf.Rsqrt(tf.Maximum(sum of x², epsilon))"""
    data = call.tensor(x)
    squares = call.reduced("Sum", call.raw("Square", data), dim if axis is None else axis, keep=True)
    return call.raw("Mul", data, call.raw("Rsqrt", call.raw("Maximum", squares, call.number_like(epsilon, data))))


@function("norm", "linalg.norm")
def norm(call: Call, tensor: Tensor, ord: object = "euclidean", axis: Tensor = None, keepdims: bool = False) -> SSAValue:
    """tf.norm: the norm of 1-D tensors or of matrices along axes"""
    return norm_of(call, call.tensor(tensor), ord, axis, keepdims)


def norm_of(call: Call, x: SSAValue, order: object, axis: Tensor, keepdims: bool) -> SSAValue:
    """The norm of an order over axes; the norm of matrices if `axis` is a list of two axes.

    Raises ConversionError for an order that is not supported.
    """
    is_matrix = isinstance(axis, list) and len(call.axes(axis, x)) == 2
    size = call.raw("Abs", x)
    if order in ("euclidean", "fro") or (order == 2 and not is_matrix):
        return call.raw("Sqrt", call.reduced("Sum", call.raw("Square", x), axis, keep=keepdims))
    if not isinstance(order, int | float) or (is_matrix and order not in (1, math.inf)):
        call.fail(f"the norm {order!r} of matrices is not supported" if is_matrix else f"the norm {order!r} is not supported")
    if is_matrix:
        rows, columns = call.axes(axis, x)
        first, second = (rows, columns) if order == 1 else (columns, rows)
        largest = call.reduced("Max", call.reduced("Sum", size, first, keep=True), second, keep=True)
        return largest if keepdims else call.raw("Squeeze", largest, squeeze_dims=[rows, columns])
    if order == math.inf:
        return call.reduced("Max", size, axis, keep=keepdims)
    if order == 1:
        return call.reduced("Sum", size, axis, keep=keepdims)
    powers = call.reduced("Sum", call.raw("Pow", size, call.number_like(order, x)), axis, keep=keepdims)
    return call.raw("Pow", powers, call.number_like(1 / order, x))


@function("linalg.normalize")
def normalize(call: Call, tensor: Tensor, ord: object = "euclidean", axis: Tensor = None) -> list[SSAValue]:
    """tf.linalg.normalize: the tensor divided by its norm, and the norm"""
    data = call.tensor(tensor)
    length = norm_of(call, data, ord, axis, True)
    return [call.raw("RealDiv", data, length), length]


@function("clip_by_norm")
def clip_by_norm(call: Call, t: Tensor, clip_norm: Tensor, axes: Tensor = None) -> SSAValue:
    """tf.clip_by_norm: t · clip_norm / tf.Maximum(norm, clip_norm)"""
    data, limit = call.alike(t, clip_norm)
    length = norm_of(call, data, "euclidean", axes, True)
    return call.raw("RealDiv", call.raw("Mul", data, limit), call.raw("Maximum", length, limit))


@function("math.reduce_logsumexp")
def logsumexp(call: Call, input_tensor: Tensor, axis: Tensor = None, keepdims: bool = False) -> SSAValue:
    """tf.math.reduce_logsumexp: the logarithm of the sum of exponentials, less the maximum before and more after it"""
    data = call.tensor(input_tensor)
    largest = call.reduced("Max", data, axis, keep=True)
    total = call.raw("Log", call.reduced("Sum", call.raw("Exp", call.raw("Sub", data, largest)), axis, keep=True))
    result = call.raw("AddV2", total, largest)
    return result if keepdims else call.raw("Squeeze", result, squeeze_dims=call.axes(axis, data))
