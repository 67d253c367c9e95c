"""Activation functions, by the names that layers and `keras.ops` have for them.

"gelu"                                                     0.5 · x · (1 + erf(x / √2))
{"class_name": "LeakyReLU", "config": {"negative_slope": 0.1}}  a layer as activation
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from xdsl.ir import SSAValue

from moir.dialects.shapes import element_of, rank_of
from moir.expansions.functions import has_operation, operation, selu
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder

Function = Callable[[OpBuilder, SSAValue], SSAValue]


def leaky_relu(op: OpBuilder, x: SSAValue, slope: float) -> SSAValue:
    """x where positive, else slope · x."""
    return op.PRelu(x, op.constant([slope], element_of(x)))


def hard_sigmoid(op: OpBuilder, x: SSAValue) -> SSAValue:
    """relu6(x + 3) / 6."""
    return op.HSigmoid(x)


def former_hard_sigmoid(op: OpBuilder, x: SSAValue) -> SSAValue:
    """The hard sigmoid of Keras 2: clip(0.2 · x + 0.5, 0, 1)."""
    return op.HardSigmoid(x, op.constant_like(0.2, x), op.constant_like(0.5, x))


def celu(op: OpBuilder, x: SSAValue, alpha: float) -> SSAValue:
    """max(x, 0) + min(alpha · (exp(x / alpha) - 1), 0)."""
    below = op.Multiply(op.Subtract(op.Exp(op.Divide(op.Minimum(x, 0.0), alpha)), 1.0), alpha)
    return op.Add(op.Relu(x), below)


def squareplus(op: OpBuilder, x: SSAValue, b: float) -> SSAValue:
    """(x + √(x² + b)) / 2."""
    return op.Multiply(op.Add(x, op.Sqrt(op.Add(op.Multiply(x, x), float(b)))), 0.5)


def hard_shrink(op: OpBuilder, x: SSAValue, threshold: float) -> SSAValue:
    """x where its absolute value is above the threshold, else 0."""
    return op.Select(op.Greater(op.Abs(x), threshold), x, op.constant_like(0.0, x))


def soft_shrink(op: OpBuilder, x: SSAValue, threshold: float) -> SSAValue:
    """x moved towards 0 by the threshold where its absolute value exceeds the threshold; 0 elsewhere, also for NaN."""
    moved = op.Subtract(x, op.Clamp(x, min=-threshold, max=threshold))
    return op.Select(op.Greater(op.Abs(x), threshold), moved, op.constant_like(0.0, x))


def threshold(op: OpBuilder, x: SSAValue, limit: float, otherwise: float) -> SSAValue:
    """x where it is above `limit`, else the number `otherwise`."""
    return op.Select(op.Greater(x, limit), x, op.constant_like(otherwise, x))


def sparse_plus(op: OpBuilder, x: SSAValue) -> SSAValue:
    """0 below -1, (x + 1)² / 4 up to 1, then x."""
    inner = op.Multiply(op.Power(op.Add(x, 1.0), 2.0), 0.25)
    return op.Select(op.LessEqual(x, -1.0), op.constant_like(0.0, x), op.Select(op.Less(x, 1.0), inner, x))


def glu(op: OpBuilder, x: SSAValue, axis: int) -> SSAValue:
    """The first half along an axis, times the sigmoid of the second one."""
    value, gate = op.Split.parts(2, x, axis, num_splits=2)
    return op.Multiply(value, op.Sigmoid(gate))


def sparsemax(op: OpBuilder, x: SSAValue, axis: int) -> SSAValue:
    """max(x - tau, 0) as Keras 3 computes it: tau is computed from the sum of all running sums of the support.

    The projection onto the simplex (Martins and Astudillo, "From Softmax to Sparsemax", 2016) uses only the last
    running sum.
    """
    rank = rank_of(x) or 2
    axis = axis % rank
    count = op.Squeeze(op.Gather(op.ShapeOf(x), [axis], 0), [0])
    ordered = op.TopK.results(x, count, axis=axis, mode="max", sort="value")[0]
    element = element_of(x)
    ranks = op.Range(op.constant(1), op.Add(count, 1), op.constant(1), output_type=element)
    ranks = op.Unsqueeze(ranks, list(range(1, rank - axis))) if axis < rank - 1 else ranks
    sums = op.CumSum(ordered, axis)
    inside = op.Greater(op.Add(op.Multiply(ranks, ordered), 1.0), sums)
    support = op.ReduceSum(op.convert(inside, element), [axis], keep_dims=True)
    total = op.ReduceSum(op.Select(inside, sums, op.constant_like(0.0, sums)), [axis], keep_dims=True)
    return op.Relu(op.Subtract(x, op.Divide(op.Subtract(total, 1.0), support)))


def gelu(op: OpBuilder, x: SSAValue, *, approximate: bool) -> SSAValue:
    """The Gaussian error linear unit, exact or, if `approximate`, by tanh."""
    return op.Gelu(x, approximation_mode="TANH" if approximate else "ERF")


def log_sigmoid(op: OpBuilder, x: SSAValue) -> SSAValue:
    """-softplus(-x)."""
    return op.Negative(op.SoftPlus(op.Negative(x)))


FUNCTIONS: Mapping[str, Function] = {
    "celu": lambda op, x: celu(op, x, 1.0),
    "elu": lambda op, x: op.Elu(x, alpha=1.0),
    "exponential": lambda op, x: op.Exp(x),
    "gelu": lambda op, x: gelu(op, x, approximate=False),
    "glu": lambda op, x: glu(op, x, -1),
    "hard_shrink": lambda op, x: hard_shrink(op, x, 0.5),
    "hard_sigmoid": hard_sigmoid,
    "hard_silu": lambda op, x: op.HSwish(x),
    "hard_swish": lambda op, x: op.HSwish(x),
    "hard_tanh": lambda op, x: op.Clamp(x, min=-1.0, max=1.0),
    "leaky_relu": lambda op, x: leaky_relu(op, x, 0.2),
    "linear": lambda _, x: x,
    "log_sigmoid": log_sigmoid,
    "log_softmax": lambda op, x: op.LogSoftmax(x, axis=-1),
    "mish": lambda op, x: op.Mish(x),
    "relu": lambda op, x: op.Relu(x),
    "relu6": lambda op, x: op.Clamp(x, min=0.0, max=6.0),
    "selu": selu,
    "sigmoid": lambda op, x: op.Sigmoid(x),
    "silu": lambda op, x: op.Swish(x),
    "soft_shrink": lambda op, x: soft_shrink(op, x, 0.5),
    "softmax": lambda op, x: op.Softmax(x, axis=-1),
    "softplus": lambda op, x: op.SoftPlus(x),
    "softsign": lambda op, x: op.SoftSign(x),
    "sparse_plus": sparse_plus,
    "sparse_sigmoid": lambda op, x: op.Multiply(op.Add(op.Clamp(x, min=-1.0, max=1.0), 1.0), 0.5),
    "sparsemax": lambda op, x: sparsemax(op, x, -1),
    "squareplus": lambda op, x: squareplus(op, x, 4),
    "swish": lambda op, x: op.Swish(x),
    "tanh": lambda op, x: op.Tanh(x),
    "tanh_shrink": lambda op, x: op.Subtract(x, op.Tanh(x)),
    "threshold": lambda op, x: threshold(op, x, 0.0, 0.0),
}
"""The functions with their default arguments."""

_BARE = frozenset(("sin", "cos", "tan", "abs", "absolute", "exp", "log", "sqrt", "erf", "floor", "ceil", "sign", "negative"))
"""Functions of `keras.ops` that files use as activations."""


def activated(node: LoweringNode, op: OpBuilder, x: SSAValue, activation: object) -> SSAValue:
    """The result of applying an activation, which is None (x itself), the name of a function, or a layer.

    Raises ConversionError for any other activation.
    """
    if activation is None:
        return x
    if isinstance(activation, dict):
        return _by_layer(node, op, x, cast("dict[str, Any]", activation))
    name = str(activation)
    if name == "hard_sigmoid" and node.version < 3:
        return former_hard_sigmoid(op, x)
    if name in FUNCTIONS:
        return FUNCTIONS[name](op, x)
    if name not in _BARE or not has_operation(name):
        node.fail(
            f"Keras does not have the activation {name!r}, and its program is not in the file",
            hint="write a lowering for the layer, or use a layer with a registered name in place of the function",
        )
    return operation(op, name)(x)


def _by_layer(node: LoweringNode, op: OpBuilder, x: SSAValue, layer: dict[str, Any]) -> SSAValue:
    """The result of an activation given as the configuration of a layer.

    Raises ConversionError for a layer with variables.
    """
    kind, config = str(layer.get("class_name")), cast("dict[str, Any]", layer.get("config") or {})
    if kind == "Activation":
        return activated(node, op, x, config.get("activation"))
    result = layer_function(node, op, x, kind, config)
    if result is None:
        node.fail(f"the layer {kind} as activation is not supported", hint="put it after the layer")
    return result


def layer_function(node: LoweringNode, op: OpBuilder, x: SSAValue, kind: str, config: Mapping[str, Any]) -> SSAValue | None:
    """The result of the activation layer `kind`, which has no variables; None for any other kind.

    Raises ConversionError for a softmax over several axes.
    """
    match kind:
        case "ReLU":
            return rectified(op, x, config.get("max_value"), config.get("negative_slope", 0.0), config.get("threshold", 0.0))
        case "LeakyReLU":
            return leaky_relu(op, x, float(config.get("negative_slope", config.get("alpha", 0.3))))
        case "ELU":
            return op.Elu(x, alpha=float(config.get("alpha", 1.0)))
        case "ThresholdedReLU":
            return threshold(op, x, float(config.get("theta", 1.0)), 0.0)
        case "Softmax":
            axis = config.get("axis", -1)
            axes = [axis] if isinstance(axis, int) else list(axis)
            if len(axes) != 1:
                node.fail("a softmax over several axes as activation is not supported")
            return op.Softmax(x, axis=axes[0])
        case _:
            return None


def rectified(op: OpBuilder, x: SSAValue, max_value: object, negative_slope: object, lower: object) -> SSAValue:
    """x where it is above `lower`, but at most `max_value`; elsewhere negative_slope · (x - lower).

    A `lower` or `negative_slope` of None is 0; a `max_value` of None is no limit.
    """
    slope, limit = float(cast(Any, negative_slope) or 0.0), float(cast(Any, lower) or 0.0)
    if limit == 0.0:
        if slope == 0.0:
            return op.Relu(x) if max_value is None else op.Clamp(x, min=0.0, max=float(cast(Any, max_value)))
        rectified = leaky_relu(op, x, slope)
    else:
        below = op.Multiply(op.Subtract(x, limit), slope) if slope else op.constant_like(0.0, x)
        rectified = op.Select(op.Greater(x, limit), x, below)
    return rectified if max_value is None else op.Minimum(rectified, float(cast(Any, max_value)))
