"""The check that ONNX allows the element types of the operands of each node in a version of its operator set.

The schemas are those of the package `onnx`, which is imported only for models with other element types than the common
ones.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from xdsl.ir import Attribute, Block, Operation

from moir.dialects.element_types import boolean, describe, dynamic, f32, si32, si64
from moir.dialects.framework import FrameworkOp
from moir.dialects.frameworks.onnx import DATA_TYPES, NUMBERS
from moir.dialects.moir import is_none
from moir.dialects.names import name_of
from moir.dialects.shapes import element_of
from moir.errors import UnsupportedOperationError

_COMMON = frozenset((f32, si64, si32, boolean, dynamic))
"""Element types that all lowered nodes accept in every version of the operator set."""


def check_element_types(block: Block, version: int) -> None:
    """Check the nodes of a block, and of the bodies in it.

    Raises UnsupportedOperationError for an operand of an element type that a node does not take in the version.
    """
    for op in block.ops:
        for region in op.regions:
            check_element_types(region.block, version)
        if isinstance(op, FrameworkOp) and not op.regions:
            elements = [None if is_none(value.owner) else element_of(value) for value in op.operands]
            if not all(each is None or each in _COMMON for each in elements) or any(element_of(each) not in _COMMON for each in op.results):
                _check(op, elements, version)


def _check(op: FrameworkOp, elements: list[Attribute | None], version: int) -> None:
    schema = _schema(op.KIND, version)
    for direction, formal, actual in (
        ("operand", schema.inputs, elements),
        ("result", schema.outputs, [element_of(each) for each in op.results]),
    ):
        for index, element in enumerate(actual):
            if element is None or element is dynamic or not formal:
                continue
            allowed = formal[min(index, len(formal) - 1)].types
            if element not in NUMBERS or f"tensor({DATA_TYPES[NUMBERS[element]].name.lower()})" not in allowed:
                raise _refusal(op, direction, index, element, version)


def _refusal(op: Operation, direction: str, index: int, element: Attribute, version: int) -> UnsupportedOperationError:
    return UnsupportedOperationError(
        f"its {direction} {index} has element type {describe(element).xml}, which version {version} of ONNX's operator set does not allow",
        operation=op.name,
        node=name_of(op),
        hint="give a newer version with --opset, or another element type with --input",
    )


@cache
def _schema(kind: str, version: int) -> Any:
    """ONNX's schema of a kind in a version of the operator set."""
    import onnx.defs

    return onnx.defs.get_schema(kind, version, "")
