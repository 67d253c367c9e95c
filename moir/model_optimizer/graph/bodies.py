"""Bodies of an operation by the names Model Optimizer gives them, which its nodes list in `sub_graphs`."""

from __future__ import annotations

from xdsl.ir import Block, Operation

from moir.dialects.framework import FrameworkOp
from moir.dialects.properties import value_of

_OPSET_NAMES = {"If": ("then_graph", "else_graph"), "Loop": ("body",), "TensorIterator": ("body",)}


def body_names(op: Operation) -> list[str]:
    """Names of the bodies of an operation that has any. A framework's operation calls them as the attributes they come from."""
    if isinstance(op, FrameworkOp):
        given = op.properties.get("graph_attributes")
        names = [str(name) for name in value_of(given)] if given is not None else []
        if len(set(names)) == len(op.regions):
            return names
        return [f"body_{index}" for index in range(len(op.regions))]
    names = list(_OPSET_NAMES.get(op.name.partition(".")[2], ()))
    return names if len(names) == len(op.regions) else [f"body_{index}" for index in range(len(op.regions))]


def body_of(op: Operation, name: str) -> Block:
    """The body of this name."""
    return op.regions[body_names(op).index(name)].block
