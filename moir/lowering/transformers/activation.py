"""Activation functions by the names that transformers gives them."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder
from moir.support.tables import by_word

ACTIVATIONS: dict[str, Callable[[OpBuilder, SSAValue], SSAValue]] = by_word(
    {
        "silu swish": lambda op, x: op.Swish(x),
        "gelu gelu_python": lambda op, x: op.Gelu(x, approximation_mode="ERF"),
        "gelu_new gelu_pytorch_tanh gelu_fast gelu_python_tanh gelu_accurate": lambda op, x: op.Gelu(x, approximation_mode="TANH"),
        "quick_gelu": lambda op, x: op.Multiply(x, op.Sigmoid(op.Multiply(x, 1.702))),
        "relu": lambda op, x: op.Relu(x),
        "relu2": lambda op, x: op.Power(op.Relu(x), 2.0),
        "tanh": lambda op, x: op.Tanh(x),
        "sigmoid": lambda op, x: op.Sigmoid(x),
        "softplus": lambda op, x: op.SoftPlus(x),
        "mish": lambda op, x: op.Mish(x),
        "linear": lambda _op, x: x,
    }
)


def activated(node: LoweringNode, op: OpBuilder, x: SSAValue, name: str) -> SSAValue:
    """The activation function called `name`, applied to x. Raises ConversionError for an unknown name."""
    function = ACTIVATIONS.get(name)
    if function is None:
        node.fail(f"the activation {name!r} is not known", hint=f"moir knows {', '.join(ACTIVATIONS)}")
    return function(op, x)
