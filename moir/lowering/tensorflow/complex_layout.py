"""Axes of complex tensors, which are real ones with a last dimension of 2 for the real and the imaginary part."""

from __future__ import annotations

from xdsl.dialects.builtin import ComplexType

from moir.lowering.driver import LoweringNode


def is_complex(node: LoweringNode, attribute: str = "T") -> bool:
    """Whether the data of a node, whose element type an attribute says, are complex numbers."""
    return isinstance(node.op.properties.get(attribute), ComplexType)


def real_axis(node: LoweringNode, axis: int, attribute: str = "T") -> int:
    """The axis of the real tensor that is an axis of the data; a negative one counts from the end of the complex tensor."""
    return axis - 1 if axis < 0 and is_complex(node, attribute) else axis
