"""Elementwise functions, by the names that frameworks and Model Optimizer have for them.

    mxnet.arcsin, onnx.Asin, tf.Asin  ->  opset1.Asin

Names are compared in lower case, without underscores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue

from moir.rewriting.builder import Constructor, OpBuilder

_NAMES = {
    "Abs": "abs absolute absval",
    "Acos": "acos arccos",
    "Acosh": "acosh arccosh",
    "Add": "add addv2 plus sum",
    "Asin": "asin arcsin",
    "Asinh": "asinh arcsinh",
    "Atan": "atan arctan",
    "Atanh": "atanh arctanh",
    "BitwiseAnd": "bitwiseand",
    "BitwiseLeftShift": "leftshift",
    "BitwiseNot": "bitwisenot invert",
    "BitwiseOr": "bitwiseor",
    "BitwiseRightShift": "rightshift",
    "BitwiseXor": "bitwisexor",
    "Ceiling": "ceil ceiling",
    "Cos": "cos",
    "Cosh": "cosh",
    "Divide": "div divide realdiv",
    "Equal": "equal",
    "Erf": "erf",
    "Exp": "exp",
    "Floor": "floor",
    "FloorMod": "floormod",
    "Greater": "greater",
    "GreaterEqual": "greaterequal greaterorequal",
    "HSwish": "hardswish",
    "IsFinite": "isfinite",
    "IsInf": "isinf",
    "IsNaN": "isnan",
    "Less": "less lesser",
    "LessEqual": "lessequal lessorequal lesserequal",
    "Log": "log",
    "LogicalAnd": "and logicaland",
    "LogicalNot": "not logicalnot",
    "LogicalOr": "or logicalor",
    "LogicalXor": "xor logicalxor",
    "Maximum": "max maximum",
    "Minimum": "min minimum",
    "Mish": "mish",
    "Mod": "mod truncatemod",
    "Multiply": "mul multiply prod",
    "Negative": "neg negative",
    "NotEqual": "notequal",
    "Power": "pow power",
    "Relu": "relu",
    "Round": "round",
    "Sigmoid": "sigmoid",
    "Sign": "sign signste",
    "Sin": "sin",
    "Sinh": "sinh",
    "SoftPlus": "bnll softplus softrelu",
    "SoftSign": "softsign",
    "Sqrt": "sqrt",
    "SquaredDifference": "squareddiff squareddifference",
    "Subtract": "minus sub subtract",
    "Tan": "tan",
    "Tanh": "tanh",
}

OPERATIONS: Mapping[str, str] = {name: operation for operation, names in _NAMES.items() for name in names.split()}
"""The opset operation that computes an elementwise function, by each name of the function."""


def has_operation(name: str) -> bool:
    """Whether one opset operation computes the elementwise function of a name."""
    return name.replace("_", "").lower() in OPERATIONS


def operation(op: OpBuilder, name: str) -> Constructor:
    """The constructor of the opset operation that computes the elementwise function of a name.

    Raises KeyError if no single operation does.
    """
    return getattr(op, OPERATIONS[name.replace("_", "").lower()])


SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805
"""The constants of Selu (Klambauer et al., "Self-Normalizing Neural Networks", 2017)."""


def selu(op: OpBuilder, x: SSAValue) -> SSAValue:
    """The scaled exponential linear unit with its usual constants."""
    return op.Selu(x, op.constant_like(SELU_ALPHA, x), op.constant_like(SELU_SCALE, x))


def parametric_relu(op: OpBuilder, x: SSAValue, slopes: SSAValue) -> SSAValue:
    """x where positive, slopes · x elsewhere; the slopes broadcast to x: opset1.Relu(x) - slopes · opset1.Relu(-x)"""
    return op.Subtract(op.Relu(x), op.Multiply(slopes, op.Relu(op.Negative(x))))


def linear(op: OpBuilder, x: SSAValue, scale: float, shift: float) -> SSAValue:
    """scale * x + shift, without the multiplication if scale is 1, and without the addition if shift is 0."""
    x = x if scale == 1 else op.Multiply(x, scale)
    return x if shift == 0 else op.Add(x, shift)


def power_of_linear(op: OpBuilder, x: SSAValue, scale: float, shift: float, exponent: float) -> SSAValue:
    """(scale * x + shift) ^ exponent: the layer Power of Caffe and of Model Optimizer."""
    base = linear(op, x, scale, shift)
    return base if exponent == 1 else op.Power(base, exponent)


def weighted(op: OpBuilder, values: Sequence[SSAValue], factors: Sequence[float]) -> list[SSAValue]:
    """The product of each value with its factor, as an Eltwise layer with coefficients sums them."""
    return [value if factor == 1 else op.Multiply(value, factor) for value, factor in zip(values, factors, strict=True)]
