"""The operation of an operation set for a `type` and `version` of Model Optimizer."""

from __future__ import annotations

from moir.dialects import opset
from moir.dialects.opset.base import OpsetOp
from moir.dialects.opset.xml import kind_of_layer_type

UNVERSIONED = frozenset((None, "", "experimental", "None"))
"""Versions that stand for any operation set."""

COMPATIBLE: dict[str, int] = {
    "AvgPool": 1,
    "Broadcast": 1,
    "DeformableConvolution": 1,
    "DetectionOutput": 1,
    "Gather": 1,
    "NonMaxSuppression": 5,
    "Pad": 1,
    "Proposal": 1,
    "PriorBox": 1,
    "ROIAlign": 3,
    "Range": 1,
    "ScatterElementsUpdate": 3,
    "ScatterNDUpdate": 4,
    "ShapeOf": 1,
    "TopK": 1,
}
"""Type -> operation set since which the oldest version moir has is compatible with the attributes and operands."""

NEWEST: dict[str, int] = {"MulticlassNms": 8}
"""Type -> last operation set in which the version moir has is in force, though newer versions exist."""


def is_standard(type_: str) -> bool:
    """Whether an operation set has an operation of this type."""
    try:
        return bool(opset.versions(kind_of_layer_type(type_)))
    except KeyError:
        return False


def opset_number(version: str | None) -> int | None:
    """The number in `opset8`; None for other versions."""
    digits = str(version).removeprefix("opset")
    return int(digits) if str(version).startswith("opset") and digits.isascii() and digits.isdigit() and len(digits) < 4 else None


def standard_operation(type_: str, version: str | None) -> type[OpsetOp] | None:
    """The class of an operation of an operation set: the version in force there, or a compatible one.

    Without a version it is the oldest, as in Model Optimizer. None if moir does not have the operation.
    """
    type_ = kind_of_layer_type(type_)
    try:
        names = opset.versions(type_)
    except KeyError:
        return None
    number = opset_number(version)
    if number is None:
        return opset.operation(names[0]) if version in UNVERSIONED else None
    if number > NEWEST.get(type_, number):
        return None
    introduced = {int(name.partition(".")[0].removeprefix("opset")): name for name in names}
    in_force = [candidate for candidate in introduced if candidate <= number]
    if in_force:
        return opset.operation(introduced[max(in_force)])
    if COMPATIBLE.get(type_, number + 1) <= number:
        return opset.operation(introduced[min(introduced)])
    return None
