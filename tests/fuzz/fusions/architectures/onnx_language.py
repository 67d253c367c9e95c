"""Architectures as graphs of ONNX, with channels second."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.fuzz.case import Case
from tests.fuzz.draw import Array, Draw
from tests.fuzz.fusions.architectures.language import Language
from tests.fuzz.fusions.draft import Draft, Value

LARGEST = 20_000
"""Elements of the largest value: kernels for many channels are others than those for a few."""

NODES = frozenset(
    ("Abs", "Elu", "Erf", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Mish", "Neg", "Relu", "Sigmoid", "Sin", "Softplus", "Tanh")
)
"""Elementwise functions that are nodes."""


class OnnxLanguage(Language):
    """A graph of ONNX."""

    channels_last = False

    def __init__(self, draw: Draw, *, quantizes: bool = False) -> None:
        super().__init__(draw, quantizes=quantizes)
        self.draft = Draft(draw, largest=LARGEST)

    def input(self, shape: Sequence[int]) -> Value:
        return self.draft.input(shape)

    def constant(self, array: Array) -> Value:
        return self.draft.constant(array)

    def case(self, subject: str) -> Case:
        self.draft.outputs = self.outputs
        return self.draft.case(subject)

    def convolution(self, x: Value, filters: int, kernel: Sequence[int], stride: int = 1, groups: int = 1, dilation: int = 1) -> Value:
        fan = x.shape[1] // groups
        array = self.weights((filters, fan, *kernel), fan * int(np.prod(kernel)))
        operands = [self.rounded(x), self._filters(array, 0)]
        if self.draw.chance(0.5):
            operands.append(self.constant(self.numbers((filters,), 0.5)))
        pads = [(size - 1) * dilation // 2 for size in kernel]
        spatial = len(kernel)
        return self.draft.op(
            "Conv", *operands, kernel_shape=kernel, strides=[stride] * spatial, dilations=[dilation] * spatial, group=groups, pads=pads * 2
        )

    def _filters(self, array: Array, axis: int) -> Value:
        """Filters, in a quantized graph dequantized from 8 bits with a scale for each."""
        if not self.quantizes:
            return self.constant(array)
        axes = tuple(each for each in range(array.ndim) if each != axis)
        scales = (np.maximum(np.abs(array).max(axis=axes), 1e-3) / 127).astype(np.float32)
        shape = [1] * array.ndim
        shape[axis] = scales.size
        codes = self.constant(np.clip(np.round(array / scales.reshape(shape)), -127, 127).astype(np.int8))
        return self.draft.op("DequantizeLinear", codes, self.constant(scales), self.constant(np.zeros(scales.shape, np.int8)), axis=axis)

    def matrix(self, array: Array) -> Value:
        return self._filters(array, 1)

    def transposed_convolution(self, x: Value, filters: int, factor: int) -> Value:
        kernel = [factor * self.draw.one_of((1, 1, 2))] * (x.rank - 2)
        array = self.weights((x.shape[1], filters, *kernel), x.shape[1] * int(np.prod(kernel)) // factor)
        pads = [(size - factor) // 2 for size in kernel]
        return self.draft.op(
            "ConvTranspose", self.rounded(x), self._filters(array, 1), kernel_shape=kernel, strides=[factor] * len(kernel), pads=pads * 2
        )

    def batch_normalization(self, x: Value) -> Value:
        count = x.shape[1]
        scale, shift, mean = (self.numbers((count,), deviation, center) for deviation, center in ((0.5, 1.0), (0.5, 0.0), (0.3, 0.0)))
        variance = np.abs(self.numbers((count,), 0.3, 1.0)) + np.float32(0.1)
        return self.draft.op("BatchNormalization", x, *(self.constant(each) for each in (scale, shift, mean, variance)), epsilon=1e-3)

    def pooled(self, kind: str, x: Value, kernel: int, stride: int) -> Value:
        spatial = x.rank - 2
        attributes = {"kernel_shape": [kernel] * spatial, "strides": [stride] * spatial, "pads": [(kernel - 1) // 2] * 2 * spatial}
        return self.draft.op("MaxPool" if kind == "max" else "AveragePool", x, **attributes)

    def resized(self, x: Value, factor: int) -> Value:
        scales = self.constant(np.array([1, 1, *[factor] * (x.rank - 2)], np.float32))
        mode, coordinates = self.draw.one_of((("nearest", "asymmetric"), ("nearest", "asymmetric"), ("linear", "half_pixel")))
        return self.draft.op("Resize", x, None, scales, mode=mode, coordinate_transformation_mode=coordinates, nearest_mode="floor")

    def unary(self, kind: str, x: Value) -> Value:
        d = self.draft
        match kind:
            case "Relu6":
                return d.op("Clip", x, self.scalar(0.0), self.scalar(6.0))
            case "Swish":
                return d.op("Mul", x, d.op("Sigmoid", x))
            case "Square":
                return d.op("Mul", x, x)
            case _:
                assert kind in NODES
                return d.op(kind, x)

    def binary(self, kind: str, x: Value, y: Value) -> Value:
        return self.draft.op(kind, x, y)

    def product(self, x: Value, y: Value) -> Value:
        return self.draft.op("MatMul", x, y)

    def softmax(self, x: Value, axis: int) -> Value:
        return self.draft.op("Softmax", x, axis=axis)

    def reduced(self, kind: str, x: Value, axes: Sequence[int], *, keep: bool) -> Value:
        if kind == "Mean" and keep and list(axes) == self.spatial_axes(x) and self.draw.chance(0.5):
            return self.draft.op("GlobalAveragePool", x)
        return self.draft.reduce(f"Reduce{kind}", x, axes, int(keep))

    def layer_normalization(self, x: Value, axis: int) -> Value:
        scale, shift = self.numbers((x.shape[axis],), 0.3, 1.0), self.numbers((x.shape[axis],), 0.3)
        if axis == x.rank - 1 and self.draw.chance(0.5):
            return self.draft.op("LayerNormalization", x, self.constant(scale), self.constant(shift), axis=-1, epsilon=1e-3)
        d, shape = self.draft, [-1 if each == axis else 1 for each in range(axis, x.rank)]
        centred = d.op("Sub", x, d.reduce("ReduceMean", x, [axis]))
        variance = d.reduce("ReduceMean", d.op("Mul", centred, centred), [axis])
        normal = d.op("Div", centred, d.op("Sqrt", d.op("Add", variance, self.scalar(1e-3))))
        return d.op("Add", d.op("Mul", normal, self.constant(scale.reshape(shape))), self.constant(shift.reshape(shape)))

    def transposed(self, x: Value, order: Sequence[int]) -> Value:
        return self.draft.transpose(x, order)

    def reshaped(self, x: Value, shape: Sequence[int]) -> Value:
        return self.draft.reshape(x, shape)

    def joined(self, values: Sequence[Value], axis: int) -> Value:
        return self.draft.op("Concat", *values, axis=axis)

    def parts(self, x: Value, sizes: Sequence[int], axis: int) -> list[Value]:
        return self.draft.ops("Split", x, self.constant(np.array(sizes, np.int64)), outputs=len(sizes), axis=axis)

    def sliced(self, x: Value, axis: int, begin: int, end: int, step: int = 1) -> Value:
        bounds = [self.constant(np.array([number], np.int64)) for number in (begin, end, axis, step)]
        return self.draft.op("Slice", x, *bounds)

    def padded(self, x: Value, begin: Sequence[int], end: Sequence[int]) -> Value:
        return self.draft.op("Pad", x, self.constant(np.array([*begin, *end], np.int64)))

    def quantized(self, x: Value) -> Value:
        kind = self.draw.one_of((np.uint8, np.uint8, np.int8))
        zero = self.draw.one_of((128, 128, 0, 117)) - (0 if kind == np.uint8 else 128)
        scale = np.float32(self.draw.random.uniform(0.015, 0.05))
        operands = self.constant(np.asarray(scale)), self.constant(np.array(zero, kind))
        return self.draft.op("DequantizeLinear", self.draft.op("QuantizeLinear", x, *operands), *operands)
