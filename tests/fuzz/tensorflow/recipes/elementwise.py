"""Elementwise of TensorFlow, drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from tests.fuzz.draw import Draw, NoCase
from tests.fuzz.tensorflow.recipe import COMMON, NO_TYPE, Node, recipe


@recipe(
    "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Digamma Erf Erfc Erfinv Exp Expm1 Floor Inv Invert Lgamma Log Log1p Ndtri Neg "
    "PopulationCount Reciprocal Rint Rsqrt Sigmoid Sign Sin Sinh Sqrt Square Tan Tanh IsFinite IsInf IsNan OnesLike ZerosLike "
    "BesselI0e BesselI1e"
)
def unary(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"x": draw.array(dtype, draw.shape())})


@recipe("BesselI0 BesselI1 BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1")
def cylinder_function(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"x": draw.array(dtype, draw.shape(), special=0.0)})


@recipe("Polygamma")
def polygamma(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.shape()
    return Node({"a": draw.between(dtype, draw.broadcasts_to(shape), 0, 4), "x": draw.positive(dtype, shape) * 4})


@recipe("Zeta")
def zeta(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.shape()
    return Node({"x": draw.positive(dtype, draw.broadcasts_to(shape)) * 4 + 1, "q": draw.positive(dtype, shape) * 4})


@recipe("Complex")
def complex_number(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.shape()
    operands = {"real": draw.array(dtype, draw.broadcasts_to(shape)), "imag": draw.array(dtype, shape)}
    return Node(operands, {"Tout": tf.complex128 if dtype == np.float64 else tf.complex64})


@recipe("Real Imag Angle Conj", NO_TYPE)
def complex_part(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    return Node({"input": draw.array(np.dtype(np.complex64), draw.shape())})


@recipe("ComplexAbs", NO_TYPE)
def complex_magnitude(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    return Node({"x": draw.array(np.dtype(np.complex64), draw.shape())})


@recipe("Round")
def rounding(draw: Draw, dtype: np.dtype[Any]) -> Node:
    if dtype.kind in "iu":
        raise NoCase("TensorFlow 2.21 makes zeros of integers")
    return unary(draw, dtype)


@recipe("LogicalNot", NO_TYPE)
def unary_boolean(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    return Node({"x": draw.array(np.dtype(bool), draw.shape())})


@recipe("Relu Relu6 Elu Selu Softplus Softsign LeakyRelu")
def activation(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"features": draw.array(dtype, draw.shape())})


@recipe("Softmax LogSoftmax")
def softmax(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"logits": draw.array(dtype, draw.filled(1, 4))})


@recipe("Identity Shape Size Rank StopGradient Snapshot PreventGradient Copy CopyHost")
def identity(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"input": draw.array(dtype, draw.shape())})


@recipe("Cast", "SrcT")
def cast(draw: Draw, dtype: np.dtype[Any]) -> Node:
    target = draw.one_of(COMMON.split())
    array = draw.array(dtype, draw.shape(), special=0.0 if dtype.kind == "f" else 0.15)
    if target.startswith("uint") and dtype.kind == "f":
        array = np.abs(array)
    return Node({"x": array}, {"DstT": tf.as_dtype(target)})


@recipe(
    "Add AddV2 Sub Mul Div RealDiv Maximum Minimum Pow SquaredDifference FloorDiv FloorMod TruncateDiv TruncateMod Mod DivNoNan MulNoNan "
    "Xdivy Xlogy Xlog1py Atan2 BitwiseAnd BitwiseOr BitwiseXor LeftShift RightShift Less LessEqual Greater GreaterEqual"
)
def binary(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.shape()
    x, y = draw.array(dtype, draw.broadcasts_to(shape)), draw.array(dtype, shape)
    return Node({"x": x, "y": y} if draw.chance(0.5) else {"x": y, "y": x})


@recipe("FloorDiv FloorMod TruncateDiv TruncateMod Mod Div RealDiv LeftShift RightShift Pow")
def binary_restricted(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = binary(draw, dtype)
    if dtype.kind in "iu":
        shape = np.shape(node.operands["y"])
        return Node({"x": node.operands["x"], "y": draw.positive(dtype, shape)})
    return node


@recipe("Equal NotEqual")
def equality(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return binary(draw, dtype)


@recipe("ApproximateEqual")
def nearly_equal(draw: Draw, dtype: np.dtype[Any]) -> Node:
    x = draw.array(dtype, draw.shape(), special=0.0)
    near = x + draw.one_of((0, 1)) * draw.between(dtype, x.shape, 0, 2)
    return Node({"x": x, "y": near.astype(dtype)}, {"tolerance": draw.one_of((1e-5, 0.5, 1.5))})


@recipe("LogicalAnd LogicalOr", NO_TYPE)
def logic(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    return binary(draw, np.dtype(bool))


@recipe("SelectV2")
def select(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.shape()
    condition = draw.array(np.dtype(bool), draw.broadcasts_to(shape))
    return Node({"condition": condition, "t": draw.array(dtype, draw.broadcasts_to(shape)), "e": draw.array(dtype, shape)})


@recipe("Select")
def select_rows(draw: Draw, dtype: np.dtype[Any]) -> Node:
    """The condition has the shape of the others, or one element for each row of them, or is one boolean."""
    shape = draw.shape(1)
    condition = draw.array(np.dtype(bool), draw.one_of((shape, shape[:1], [])))
    return Node({"condition": condition, "x": draw.array(dtype, shape), "y": draw.array(dtype, shape)})


@recipe("AddN")
def addition(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.shape()
    return Node({"inputs": [draw.array(dtype, shape) for _ in range(draw.integer(1, 4))]})


@recipe("BiasAdd")
def bias(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(2, 5))
    layout = draw.one_of(("NHWC", "NCHW"))
    size = data.shape[-1 if layout == "NHWC" or data.ndim == 2 else 1]
    return Node({"value": data, "bias": draw.array(dtype, [size])}, {"data_format": layout})


@recipe("BiasAddV1")
def bias_of_channels(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(2, 5))
    return Node({"value": data, "bias": draw.array(dtype, [data.shape[-1]])})


@recipe("Bitcast")
def bits(draw: Draw, dtype: np.dtype[Any]) -> Node:
    """To an element type of the same width, or of another one, which adds or takes the last dimension."""
    target = np.dtype(draw.one_of([name for name in sorted(set(COMMON.split())) if name != "bool"]))
    if dtype.kind == "b":
        raise NoCase("booleans have no bits")
    shape = draw.shape(0, 3)
    if target.itemsize > dtype.itemsize:
        shape = [*shape, target.itemsize // dtype.itemsize]
    return Node({"input": draw.array(dtype, shape, special=0.0)}, {"type": tf.as_dtype(target)})


@recipe("ClipByValue")
def clip(draw: Draw, dtype: np.dtype[Any]) -> Node:
    low, high = sorted(draw.array(dtype, [], special=0) for _ in range(2))
    return Node({"t": draw.array(dtype, draw.shape(1)), "clip_value_min": np.asarray(low), "clip_value_max": np.asarray(high)})


@recipe("Dawsn FresnelCos FresnelSin")
def integral(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"x": draw.array(dtype, draw.shape(), special=0.0)})


@recipe("Expint Spence")
def integral_of_positive(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"x": draw.positive(dtype, draw.shape()) * draw.one_of((1, 8))})


@recipe("Igamma Igammac")
def incomplete_gamma(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.shape()
    return Node({"a": draw.positive(dtype, draw.broadcasts_to(shape)) * 4, "x": draw.positive(dtype, shape) * 4})


@recipe("Betainc")
def incomplete_beta(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.shape()
    return Node({"a": draw.positive(dtype, shape) * 4, "b": draw.positive(dtype, shape) * 4, "x": draw.positive(dtype, shape) / 2})


@recipe("NextAfter")
def neighbour(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.shape()
    return Node({"x1": draw.array(dtype, draw.broadcasts_to(shape), special=0.0), "x2": draw.array(dtype, shape, special=0.0)})
