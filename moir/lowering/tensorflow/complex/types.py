"""Which tensors of a node are complex, according to the element types in its attributes."""

from __future__ import annotations

from xdsl.dialects.builtin import ComplexType

from moir.lowering.binder import LoweringNode


def is_complex(node: LoweringNode, attribute: str = "T") -> bool:
    """Whether the data of a node are complex, according to the element type in an attribute."""
    return isinstance(node.op.properties.get(attribute), ComplexType)


def real_axis(node: LoweringNode, axis: int, attribute: str = "T") -> int:
    """The axis, in the real tensor of pairs, for an axis of a tensor that is complex by `attribute`; a negative one
    skips the pairs.
    """
    return axis - 1 if axis < 0 and is_complex(node, attribute) else axis
