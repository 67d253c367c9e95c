"""Nodes of the `tf` dialect for passes that raise control flow: inspection through identities, and construction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue

from moir.dialects.data import DataAttr
from moir.dialects.element_types import dynamic, is_element_type, si32
from moir.dialects.framework import FrameworkOp, operation_class
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Constant, Parameter, Result
from moir.dialects.properties import attribute_of, string_attribute, value_of
from moir.dialects.shapes import UNKNOWN, element_of, tensor
from moir.errors import UnsupportedOperationError
from moir.frameworks.records import TENSORFLOW
from moir.frameworks.traits import BRANCHES, FORWARDS, kinds_with

MERGES = ("Merge", "RefMerge")
"""Kinds that join the values of branches, or of the entry and the back edge of a loop."""

BACK_EDGES = ("NextIteration", "RefNextIteration")
"""Kinds that pass a value back to the Merge at the start of a loop.

They have no edge to the Merge; their property `merge` names it.
"""


def unsupported(op: Operation, reason: str, hint: str | None = None) -> UnsupportedOperationError:
    """The error about a node that cannot be raised."""
    return UnsupportedOperationError(reason, operation=op.name, node=name_of(op), hint=hint)


def kind_of(op: object) -> str:
    """The kind of a TensorFlow node; an empty string for any other operation."""
    return op.KIND if isinstance(op, FrameworkOp) and op.dialect_name() == TENSORFLOW.dialect else ""


def forwards(op: object) -> bool:
    """Whether the result of an operation is its first operand, unchanged, as for an Identity or a StopGradient."""
    return kind_of(op) in kinds_with(TENSORFLOW.dialect, FORWARDS)


def is_branching(kind: str) -> bool:
    """Whether a kind has a condition or an index as first operand, and branches that take the other operands."""
    return kind in kinds_with(TENSORFLOW.dialect, BRANCHES)


def origin(value: SSAValue) -> SSAValue:
    """The value from which a chain of identities comes: a value that is not the result of an Identity is returned
    unchanged.
    """
    while isinstance(value, OpResult) and forwards(value.op):
        value = value.op.operands[0]
    return value


def origin_of_kind(value: SSAValue, *kinds: str) -> FrameworkOp | None:
    """The node that computes a value, looking through identities; None unless it is of one of the kinds."""
    owner = origin(value).owner
    return owner if isinstance(owner, FrameworkOp) and kind_of(owner) in kinds else None


def integer_of(value: SSAValue) -> int | None:
    """The integer of a constant of one element, through identities; None for any other value."""
    owner = origin(value).owner
    if not isinstance(owner, Constant) or not isinstance(data := owner.properties["value"], DataAttr):
        return None
    array = data.array
    return int(array.reshape(-1)[0]) if array.size == 1 and array.dtype.kind in "iu" else None


def integers_of(value: SSAValue) -> tuple[int, ...] | None:
    """The integers of a constant 1-D tensor, through identities; None for any other value."""
    owner = origin(value).owner
    if not isinstance(owner, Constant) or not isinstance(data := owner.properties["value"], DataAttr):
        return None
    return tuple(data.array.tolist()) if data.array.ndim == 1 and data.array.dtype.kind in "iu" else None


def is_set(op: Operation, attribute: str) -> bool:
    """Whether a boolean attribute of a node is true; it is false where the node does not have it."""
    return attribute in op.properties and bool(value_of(op.properties[attribute]))


def new_node(
    kind: str,
    operands: Sequence[SSAValue],
    properties: Mapping[str, Any] | None = None,
    *,
    results: int = 1,
    name: str | None = None,
    regions: Sequence[Region] = (),
    dialect: str = TENSORFLOW.dialect,
) -> FrameworkOp:
    """A new TensorFlow node, or one of another open dialect, with `results` results, which is in no block yet."""
    attributes = {key: attribute_of(value) for key, value in (properties or {}).items()}
    op = operation_class(dialect, kind).create(operands=operands, properties=attributes, result_types=[UNKNOWN] * results, regions=regions)
    if name is not None:
        op.attributes["name"] = string_attribute(name)
    return op


def new_integers(values: int | Sequence[int]) -> Constant:
    """A new constant of 32-bit integers, which is in no block yet."""
    data = DataAttr.of(np.array(values, np.int32), si32)
    return Constant.create(properties={"value": data}, result_types=[tensor(data.shape, si32)])


def new_parameter(like: SSAValue | None = None, element: Attribute | None = None) -> Parameter:
    """A new Parameter of unknown shape, which is in no block yet: of the element type given, else of that of `like`."""
    if element is None or not is_element_type(element):
        element = dynamic if like is None else element_of(like)
    return Parameter.create(result_types=[tensor(None, element)])


def add_results(block: Block, values: Sequence[SSAValue]) -> None:
    """Append a Result for each value to a block."""
    for value in values:
        block.add_op(Result.create(operands=[value]))


def erase(op: Operation) -> None:
    """Erase an operation without uses."""
    op.detach()
    op.erase()
