"""Operations that stay until the layout change because they have an attribute for their data layout."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, OpResult, SSAValue

from moir.dialects.framework import FrameworkOp
from moir.dialects.names import FRAMEWORK_OPERATION, name_of
from moir.dialects.properties import string_attribute
from moir.frameworks.record import Framework
from moir.frameworks.traits import SAYS_LAYOUT, kinds_with


def is_kept(op: Operation, framework: Framework) -> bool:
    """Whether an operation may stay until the layout change, because it has an attribute for its data layout."""
    return isinstance(op, FrameworkOp) and op.dialect_name() == framework.dialect and op.KIND in kinds_with(framework.dialect, SAYS_LAYOUT)


def name_computing(op: FrameworkOp, values: Sequence[SSAValue | None]) -> None:
    """Give the name of an extension's operation to the operation that computes its results, even if a Transpose follows
    it.

    `values` replace the results. The kind is recorded there, too, so that transformations after the layout change still
    match it.
    """
    value, name = values[0] if values else None, name_of(op)
    if not isinstance(value, OpResult):
        return
    computing = value.op
    # By its name, since few models have an operation that stays, and the class is in a large family.
    if computing.name == "opset1.Transpose" and isinstance(inner := computing.operands[0], OpResult):
        if name:
            computing.attributes.setdefault("name", string_attribute(f"{name}/Transpose"))
        computing = inner.op
    if name:
        computing.attributes.setdefault("name", string_attribute(name))
    computing.attributes[FRAMEWORK_OPERATION] = string_attribute(op.name)
