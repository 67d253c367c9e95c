"""Activations that are fused into operators: attribute `fused_activation_function`.

    tflite.ADD(x, y) {fused_activation_function = "RELU"}  ->  opset1.Relu(opset1.Add(x, y))

If the result is quantized to a range within that of the activation, the quantization already limits it, and the
activation is omitted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.ir import SSAValue

from moir.dialects.framework import FrameworkOp
from moir.dialects.properties import value_of
from moir.dialects.quantization import IntegerRange
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder

ACTIVATIONS: Mapping[str, Callable[[OpBuilder, SSAValue], SSAValue]] = {
    "RELU": lambda op, x: op.Relu(x),
    "RELU_N1_TO_1": lambda op, x: op.Clamp(x, min=-1.0, max=1.0),
    "RELU6": lambda op, x: op.Clamp(x, min=0.0, max=6.0),
    "TANH": lambda op, x: op.Tanh(x),
    "SIGN_BIT": lambda op, x: op.Select(op.Less(x, 0.0), op.constant_like(1.0, x), op.constant_like(0.0, x)),
}

_LIMITS: Mapping[str, tuple[float, float]] = {
    "RELU": (0.0, float("inf")),
    "RELU_N1_TO_1": (-1.0, 1.0),
    "RELU6": (0.0, 6.0),
}
"""For each activation, the range to which it clamps numbers."""


def activated(node: LoweringNode, op: OpBuilder, value: SSAValue) -> SSAValue:
    """The result of a node after its fused activation."""
    return with_activation(node, op, value, node.text("fused_activation_function", "NONE"))


def with_activation(node: LoweringNode, op: OpBuilder, value: SSAValue, kind: str) -> SSAValue:
    """A value after the activation `kind`; the value itself if the rounding of the node's result implies the
    activation.

    Raises ConversionError for an unknown activation.
    """
    if kind == "NONE" or is_implied(node, kind):
        return value
    if kind not in ACTIVATIONS:
        node.fail(f"the activation {kind} is not supported")
    return ACTIVATIONS[kind](op, value)


def is_implied(node: LoweringNode, kind: str) -> bool:
    """Whether an activation has no effect, because the only use of the result quantizes it to a range within that of
    the activation.
    """
    user = rounding(node)
    if kind not in _LIMITS or user is None or "axis" in user.properties:
        return False
    scale, zero = (value_of(user.properties[name]) for name in ("scale", "zero_point"))
    lowest, highest = IntegerRange.of(user.properties["element"]).ends
    low, high = _LIMITS[kind]
    # As the kernels do, the limit is rounded to the nearest integer.
    return round(low / scale) + zero <= lowest and (high == float("inf") or round(high / scale) + zero >= highest)


def rounding(node: LoweringNode) -> FrameworkOp | None:
    """The `tflite.fake_quantize` that quantizes the first result of a node, if it is the result's only use; else
    None.
    """
    uses = list(node.op.results[0].uses)
    user = uses[0].operation if len(uses) == 1 else None
    return user if isinstance(user, FrameworkOp) and user.name == "tflite.fake_quantize" else None
