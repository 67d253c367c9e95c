"""Which tensors of a node are complex, according to the element types in its attributes."""

from __future__ import annotations

from xdsl.dialects.builtin import ComplexType

from moir.lowering.binder import LoweringNode


def is_complex(node: LoweringNode, attribute: str = "T") -> bool:
    """Whether the data of a node are complex, according to the element type in an attribute."""
    return isinstance(node.op.properties.get(attribute), ComplexType)


def real_axis(node: LoweringNode, axis: int, attribute: str = "T") -> int:
    """The axis of the real tensor that corresponds to an axis of the complex one; a negative axis counts from
    the end.
    """
    return axis - 1 if axis < 0 and is_complex(node, attribute) else axis
