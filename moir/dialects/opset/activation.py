"""Activation functions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from moir.dialects.data import Array
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.bounds import Bounds, OperandBounds
from moir.dialects.opset.interfaces.elementwise import (
    REALS,
    ElementwiseOp,
    UnaryOp,
    elementwise,
    is_real,
    narrowed,
    require_element,
    widened,
)
from moir.dialects.opset.interfaces.operation import AlongAxes, OpsetOp, Types
from moir.dialects.opset.interfaces.properties import (
    deferred_definition,
    float_property,
    integer_property,
    optional_operands,
    string_property,
)
from moir.dialects.shapes import Shapes, SymbolicShape, format_shape, is_fixed, normalize_axis
from moir.errors import InferenceError


def sigmoid(x: Array) -> Array:
    """1 / (1 + e⁻ˣ), accurate where it is close to 0; 0 where e⁻ˣ is infinite."""
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


_complementary_error_function = elementwise(math.erfc, 1)


def normal_distribution(x: Array) -> Array:
    """The cumulative distribution function of the standard normal distribution, accurate where it is close to 0."""
    tail = _complementary_error_function(x.astype(np.float64) * -math.sqrt(0.5))
    return narrowed(0.5 * tail, x.dtype)


@deferred_definition
class Clamp(ElementwiseOp):
    """x limited to `min` … `max`. For integers the limits are rounded into the interval."""

    name = "opset1.Clamp"
    PASSES_ERRORS_ON: ClassVar[bool] = True
    min = float_property()
    max = float_property()
    REAL_ONLY: ClassVar[bool] = False

    def check_invariants(self) -> None:
        if not self.number("min") <= self.number("max"):
            raise VerifyException(f"min {self.number('min')} is above max {self.number('max')}")

    def compute(self, x: Array) -> Array:
        low, high = self.number("min"), self.number("max")
        if is_real(x):
            return np.clip(x, low, high)
        limits = np.iinfo(x.dtype)
        low = limits.min if low <= limits.min else min(math.ceil(low), limits.max)
        high = limits.max if high >= limits.max else max(math.floor(high), limits.min)
        return np.clip(x, low, high)

    def integral_bounds(self, index: int, of: OperandBounds) -> Bounds | None:
        bounds, least, most = of(0), self.number("min"), self.number("max")
        if bounds is None or least != round(least) or most != round(most):
            return None
        return min(max(bounds[0], least), most), max(min(bounds[1], most), least)


@deferred_definition
class Elu(ElementwiseOp):
    """x where positive, else alpha · (eˣ - 1)."""

    name = "opset1.Elu"
    ELEMENTS: ClassVar[frozenset[Attribute] | None] = None
    alpha = float_property()

    def compute(self, x: Array) -> Array:
        return np.where(x > 0, x, self.number("alpha") * np.expm1(np.minimum(x, 0)))


@deferred_definition
class Gelu2(ElementwiseOp):
    """x · Φ(x), Φ the distribution function of the normal distribution."""

    name = "opset2.Gelu"
    ELEMENTS: ClassVar[frozenset[Attribute] | None] = REALS

    def compute(self, x: Array) -> Array:
        return x * normal_distribution(x)


@deferred_definition
class Gelu(ElementwiseOp):
    """x · Φ(x), Φ the distribution function of the normal distribution or its approximation by tanh."""

    name = "opset7.Gelu"
    ELEMENTS: ClassVar[frozenset[Attribute] | None] = REALS
    approximation_mode = string_property("ERF", "ERF", "TANH")

    def compute(self, x: Array) -> Array:
        if self.text("approximation_mode") == "ERF":
            return x * normal_distribution(x)
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


@deferred_definition
class HSigmoid(ElementwiseOp):
    """min(max(x + 3, 0), 6) / 6"""

    name = "opset5.HSigmoid"

    def compute(self, x: Array) -> Array:
        return np.clip(x + 3, 0, 6) / 6


@deferred_definition
class HSwish(ElementwiseOp):
    """x · min(max(x + 3, 0), 6) / 6"""

    name = "opset4.HSwish"

    def compute(self, x: Array) -> Array:
        return x * np.clip(x + 3, 0, 6) / 6


@deferred_definition
class Mish(ElementwiseOp):
    """x · tanh(ln(1 + eˣ))"""

    name = "opset4.Mish"
    ELEMENTS: ClassVar[frozenset[Attribute] | None] = REALS

    def compute(self, x: Array) -> Array:
        return x * np.tanh(np.logaddexp(np.zeros_like(x), x))


@deferred_definition
class Relu(ElementwiseOp):
    """max(x, 0)"""

    name = "opset1.Relu"
    XML_TYPE: ClassVar[str] = "ReLU"
    REAL_ONLY: ClassVar[bool] = False

    def compute(self, x: Array) -> Array:
        return np.maximum(x, np.zeros_like(x))

    def integral_bounds(self, index: int, of: OperandBounds) -> Bounds | None:
        bounds = of(0)
        return None if bounds is None else (max(bounds[0], 0.0), max(bounds[1], 0.0))


@deferred_definition
class Sigmoid(ElementwiseOp):
    """1 / (1 + e⁻ˣ)"""

    name = "opset1.Sigmoid"

    def compute(self, x: Array) -> Array:
        return sigmoid(x)


@deferred_definition
class SoftPlus(ElementwiseOp):
    """ln(1 + eˣ)"""

    name = "opset4.SoftPlus"
    ELEMENTS: ClassVar[frozenset[Attribute] | None] = REALS

    def compute(self, x: Array) -> Array:
        return np.logaddexp(np.zeros_like(x), x)


@deferred_definition
class SoftSign(ElementwiseOp):
    """x / (1 + |x|)"""

    name = "opset9.SoftSign"
    ELEMENTS: ClassVar[frozenset[Attribute] | None] = REALS

    def compute(self, x: Array) -> Array:
        return x / (1 + np.abs(x))


class ParametricOp(OpsetOp):
    """Base of the activations whose parameters are operands.

    The result has the shape of the first operand and the element type of all operands.
    """

    ELEMENTS: ClassVar[frozenset[Attribute] | None] = None
    """Element types that the operation accepts; None for all."""

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        return shapes[0]

    def result_element(self) -> Attribute:
        element = self.common_element()
        if self.ELEMENTS is not None:
            require_element(element, self.ELEMENTS)
        return element

    def compute(self, x: Array, *parameters: Array) -> Array:
        """The results for an array x of numbers of at least 32 bits."""
        raise NotImplementedError(self.name)

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        if not is_real(operands[0]):
            return None
        return (narrowed(self.compute(*map(widened, operands)), operands[0].dtype),)


class ScalarParametricOp(ParametricOp):
    """Base of the activations whose parameters are scalars."""

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        for shape in shapes[1:]:
            if shape:
                raise InferenceError(f"a parameter should be a scalar, not {format_shape(shape)}")
        return shapes[0]


@deferred_definition
class HardSigmoid(ScalarParametricOp):
    """max(0, min(1, alpha · x + beta))"""

    name = "opset1.HardSigmoid"
    POINTWISE: ClassVar[bool] = True
    data = operand_def()
    alpha = operand_def()
    beta = operand_def()
    result = result_def()

    def compute(self, x: Array, *parameters: Array) -> Array:
        alpha, beta = (parameter.reshape(()) for parameter in parameters)
        return np.clip(alpha * x + beta, 0, 1)


@deferred_definition
class Selu(ParametricOp):
    """lambda · x where x is positive, else lambda · alpha · (eˣ - 1)."""

    name = "opset1.Selu"
    POINTWISE: ClassVar[bool] = True
    ELEMENTS: ClassVar[frozenset[Attribute] | None] = REALS
    data = operand_def()
    alpha = operand_def()
    scale = operand_def()
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        for shape in shapes[1:]:
            if shape and any(is_fixed(dimension) and dimension != 1 for dimension in shape):
                raise InferenceError(f"a parameter should have one element, not shape {format_shape(shape)}")
        return shapes[0]

    def compute(self, x: Array, *parameters: Array) -> Array:
        alpha, scale = (parameter.reshape(()) for parameter in parameters)
        return scale * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


@deferred_definition
class Swish(ScalarParametricOp):
    """x / (1 + e^(-beta · x)), beta 1 if it is absent."""

    name = "opset4.Swish"
    POINTWISE: ClassVar[bool] = True
    ELEMENTS: ClassVar[frozenset[Attribute] | None] = REALS
    data = operand_def()
    beta = optional_operands(1)
    result = result_def()

    def compute(self, x: Array, *parameters: Array) -> Array:
        return x * sigmoid(x * parameters[0].reshape(()) if parameters else x)


@deferred_definition
class PRelu(ParametricOp):
    """x where positive, else slope · x.

    A slope of rank 1 belongs to dimension 1 of the data; any other slope is broadcast as in numpy.
    """

    name = "opset1.PRelu"
    XML_TYPE: ClassVar[str] = "PReLU"
    data = operand_def()
    slope = operand_def()
    result = result_def()

    def compute(self, x: Array, *parameters: Array) -> Array:
        (slope,) = parameters
        if slope.size == 1:
            # The result has the shape of the data, also that of a scalar.
            slope = slope.reshape(())
        elif slope.ndim == 1 and x.ndim > 1:
            slope = slope.reshape(-1, *(1,) * (x.ndim - 2))
        return np.where(x < 0, x * slope, x)


class AlongAxisOp(UnaryOp):
    """Base of the softmax family: normalisation along one axis."""

    axis = integer_property(1)

    def infer(self, known: OperandValues) -> Types:
        self.result_shape([self.shape(0)], known)
        return super().infer(known)

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        if (shape := shapes[0]) is not None:
            normalize_axis(self.integer("axis"), max(len(shape), 1))
        return shape

    def shifted(self, x: Array) -> Array:
        """x minus its maximum along the axis, so that the exponential cannot overflow."""
        return x - np.max(x, axis=self.integer("axis"), keepdims=True)

    def compute(self, x: Array) -> Array:
        """The result for an array of numbers of at least 32 bits."""
        e = np.exp(self.shifted(x))
        return e / np.sum(e, axis=self.integer("axis"), keepdims=True)

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        (x,) = operands
        return (narrowed(self.compute(widened(x)), x.dtype),) if is_real(x) and x.size and x.ndim else None


@deferred_definition
class Softmax1(AlongAxisOp):
    """eˣ / sum(eˣ) along `axis`, which is counted from the front."""

    name = "opset1.Softmax"
    UNWRITTEN: ClassVar[Mapping[str, object]] = {"axis": 0}
    XML_TYPE: ClassVar[str] = "SoftMax"
    AXES: ClassVar[AlongAxes | None] = AlongAxes(properties=("axis",))

    def check_invariants(self) -> None:
        if self.integer("axis") < 0:
            raise VerifyException("axis is negative; Softmax of opset8 allows that")


@deferred_definition
class Softmax(AlongAxisOp):
    """eˣ / sum(eˣ) along `axis`."""

    name = "opset8.Softmax"
    XML_TYPE: ClassVar[str] = "SoftMax"
    AXES: ClassVar[AlongAxes | None] = AlongAxes(properties=("axis",))


@deferred_definition
class LogSoftmax(AlongAxisOp):
    """x - ln(sum(eˣ)) along `axis`."""

    name = "opset5.LogSoftmax"
    AXES: ClassVar[AlongAxes | None] = AlongAxes(properties=("axis",))

    def compute(self, x: Array) -> Array:
        shifted = self.shifted(x)
        return shifted - np.log(np.sum(np.exp(shifted), axis=self.integer("axis"), keepdims=True))
