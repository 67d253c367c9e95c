"""Architectures as graphs of TensorFlow, with channels last."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import tensorflow as tf

from tests.fuzz.case import Case
from tests.fuzz.draw import Array, Draw, NoCase
from tests.fuzz.fusions.architectures.drawn_graph import DrawnGraph
from tests.fuzz.fusions.architectures.language import Language
from tests.fuzz.fusions.architectures.onnx_language import LARGEST
from tests.fuzz.fusions.draft import Value

Function = Callable[[Any], Any]

UNARY: Mapping[str, Function] = {
    "Abs": tf.abs,
    "Elu": tf.nn.elu,
    "Erf": tf.math.erf,
    "Gelu": tf.nn.gelu,
    "HardSigmoid": lambda x: tf.nn.relu6(x + 3.0) / 6.0,
    "HardSwish": lambda x: x * tf.nn.relu6(x + 3.0) / 6.0,
    "LeakyRelu": lambda x: tf.nn.leaky_relu(x, 0.1),
    "Mish": lambda x: x * tf.tanh(tf.nn.softplus(x)),
    "Neg": tf.negative,
    "Relu": tf.nn.relu,
    "Relu6": tf.nn.relu6,
    "Sigmoid": tf.sigmoid,
    "Sin": tf.sin,
    "Softplus": tf.nn.softplus,
    "Square": tf.square,
    "Swish": lambda x: x * tf.sigmoid(x),
    "Tanh": tf.tanh,
}
BINARY: Mapping[str, Callable[[Any, Any], Any]] = {
    "Add": tf.add,
    "Max": tf.maximum,
    "Min": tf.minimum,
    "Mul": tf.multiply,
    "Sub": tf.subtract,
}
REDUCTIONS: Mapping[str, Callable[..., Any]] = {"Max": tf.reduce_max, "Mean": tf.reduce_mean, "Sum": tf.reduce_sum}


class TensorFlowLanguage(Language):
    """A graph of TensorFlow."""

    channels_last = True

    def __init__(self, draw: Draw, *, quantizes: bool = False) -> None:
        super().__init__(draw, quantizes=quantizes)
        self.graph = tf.Graph()
        self.inputs: dict[str, Array] = {}
        self.tensors: dict[str, Any] = {}

    def value(self, tensor: Any) -> Value:
        """The value of a tensor. Raises NoCase if it is empty or too large."""
        shape = tuple(tensor.shape.as_list())
        if not 0 < prod(shape) <= LARGEST:
            raise NoCase(f"sizes {shape}")
        self.tensors[tensor.name] = tensor
        return Value(tensor.name, shape, np.dtype(tensor.dtype.as_numpy_dtype))

    def of(self, function: Callable[..., Any], *operands: Value) -> Value:
        """The result of a function of tensors. Raises NoCase if TensorFlow does not build it."""
        with self.graph.as_default():
            try:
                return self.value(function(*(self.tensors[each.name] for each in operands)))
            except (ValueError, TypeError, tf.errors.OpError) as error:
                raise NoCase(str(error)) from None

    def input(self, shape: Sequence[int]) -> Value:
        name = f"x{len(self.inputs)}"
        self.inputs[name] = self.numbers(shape, self.draw.one_of((1.0, 2.0)), self.draw.one_of((0.0, 0.0, 1.0)))
        return self.of(lambda: tf.compat.v1.placeholder(tf.float32, list(shape), name))

    def constant(self, array: Array) -> Value:
        return self.of(lambda: tf.constant(array))

    def case(self, subject: str) -> Case:
        outputs = [each for each in dict.fromkeys(self.outputs) if self.tensors[each.name].op.type not in ("Placeholder", "Const")]
        if not outputs:
            raise NoCase("nothing is computed")
        with self.graph.as_default():
            names = [tf.identity(self.tensors[each.name], name=f"out_{index}").op.name for index, each in enumerate(outputs)]
        needed = {each.name for each in tf.compat.v1.graph_util.extract_sub_graph(self.graph.as_graph_def(), names).node}
        inputs = {name: array for name, array in self.inputs.items() if name in needed}
        if not inputs:
            raise NoCase("nothing is read")
        kinds = [each.type for each in self.graph.get_operations() if each.name in needed and each.type not in ("Const", "Identity")]
        shapes = ", ".join(f"{name}: {list(array.shape)}" for name, array in inputs.items())
        return Case(subject, DrawnGraph(self.graph, names, frozenset(), f"({shapes}) {' '.join(kinds)}"), inputs, names)

    def convolution(self, x: Value, filters: int, kernel: Sequence[int], stride: int = 1, groups: int = 1, dilation: int = 1) -> Value:
        count, padding = self.channels(x), "VALID" if list(kernel) == [1, 1] and self.draw.chance(0.5) else "SAME"
        fan = count // groups
        array = self.weights((*kernel, fan, filters), fan * prod(kernel))
        x = self.rounded(x)
        if groups == count > 1 and filters == count:
            array = array.reshape(*kernel, count, 1)
            result = self.of(lambda t: tf.nn.depthwise_conv2d(t, array, [1, stride, stride, 1], padding, dilations=[dilation] * 2), x)
        else:
            result = self.of(lambda t: tf.nn.conv2d(t, array, stride, padding, dilations=dilation), x)
        bias = self.numbers((filters,), 0.5)
        return self.of(lambda t: tf.nn.bias_add(t, bias), result) if self.draw.chance(0.5) else result

    def transposed_convolution(self, x: Value, filters: int, factor: int) -> Value:
        count, kernel = self.channels(x), [factor * self.draw.one_of((1, 1, 2))] * 2
        array = self.weights((*kernel, filters, count), count * prod(kernel) // factor)
        shape = [x.shape[0], *(size * factor for size in self.sizes(x)), filters]
        return self.of(lambda t: tf.nn.conv2d_transpose(t, array, shape, factor), self.rounded(x))

    def batch_normalization(self, x: Value) -> Value:
        count = self.channels(x)
        scale, shift, mean = (self.numbers((count,), deviation, center) for deviation, center in ((0.5, 1.0), (0.5, 0.0), (0.3, 0.0)))
        variance = np.abs(self.numbers((count,), 0.3, 1.0)) + np.float32(0.1)
        return self.of(lambda t: tf.compat.v1.nn.fused_batch_norm(t, scale, shift, mean, variance, epsilon=1e-3, is_training=False)[0], x)

    def pooled(self, kind: str, x: Value, kernel: int, stride: int) -> Value:
        function = tf.nn.max_pool2d if kind == "max" else tf.nn.avg_pool2d
        return self.of(lambda t: function(t, kernel, stride, "SAME"), x)

    def resized(self, x: Value, factor: int) -> Value:
        sizes, v1 = [size * factor for size in self.sizes(x)], tf.compat.v1.image
        function = self.draw.one_of((v1.resize_nearest_neighbor, v1.resize_nearest_neighbor, v1.resize_bilinear))
        return self.of(lambda t: function(t, sizes, half_pixel_centers=True), x)

    def unary(self, kind: str, x: Value) -> Value:
        return self.of(UNARY[kind], x)

    def binary(self, kind: str, x: Value, y: Value) -> Value:
        return self.of(BINARY[kind], x, y)

    def product(self, x: Value, y: Value) -> Value:
        return self.of(tf.matmul, x, y)

    def softmax(self, x: Value, axis: int) -> Value:
        return self.of(lambda t: tf.nn.softmax(t, axis), x)

    def reduced(self, kind: str, x: Value, axes: Sequence[int], *, keep: bool) -> Value:
        return self.of(lambda t: REDUCTIONS[kind](t, list(axes), keep), x)

    def layer_normalization(self, x: Value, axis: int) -> Value:
        shape = [x.shape[axis] if each == axis else 1 for each in range(axis, x.rank)]
        scale, shift = self.numbers(shape, 0.3, 1.0), self.numbers(shape, 0.3)

        def normalized(t: Any) -> Any:
            mean = tf.reduce_mean(t, axis, keepdims=True)
            variance = tf.reduce_mean(tf.math.squared_difference(t, mean), axis, keepdims=True)
            return (t - mean) * tf.math.rsqrt(variance + 1e-3) * scale + shift

        return self.of(normalized, x)

    def transposed(self, x: Value, order: Sequence[int]) -> Value:
        return self.of(lambda t: tf.transpose(t, list(order)), x)

    def reshaped(self, x: Value, shape: Sequence[int]) -> Value:
        return self.of(lambda t: tf.reshape(t, list(shape)), x)

    def joined(self, values: Sequence[Value], axis: int) -> Value:
        return self.of(lambda *tensors: tf.concat(tensors, axis), *values)

    def parts(self, x: Value, sizes: Sequence[int], axis: int) -> list[Value]:
        with self.graph.as_default():
            return [self.value(each) for each in tf.split(self.tensors[x.name], list(sizes), axis)]

    def sliced(self, x: Value, axis: int, begin: int, end: int, step: int = 1) -> Value:
        return self.of(lambda t: t[(slice(None),) * axis + (slice(begin, end, step),)], x)

    def padded(self, x: Value, begin: Sequence[int], end: Sequence[int]) -> Value:
        return self.of(lambda t: tf.pad(t, [list(pair) for pair in zip(begin, end, strict=True)]), x)

    def quantized(self, x: Value) -> Value:
        # Any numbers: levels of simple ranges are halfway between those of others, where each runtime rounds as it likes.
        high = float(self.draw.random.uniform(2, 6))
        low = self.draw.one_of((0.0, -float(self.draw.random.uniform(2, 6))))
        return self.of(lambda t: tf.quantization.fake_quant_with_min_max_args(t, low, high), x)
