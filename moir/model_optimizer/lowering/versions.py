"""The operation of an operation set for a `type` and `version` of Model Optimizer."""

from __future__ import annotations

from moir.dialects import opset
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.xml import kind_of_layer_type, layer_type
from moir.support.records import Record
from moir.support.suggestions import did_you_mean

UNVERSIONED = frozenset((None, "", "experimental", "None"))
"""Values of the attribute `version` that leave the operation set open."""


class Successor(Record):
    """A later version of an operation that is compatible with earlier ones.

    Args:
        since: the first operation set whose version it replaces.
        version: the operation set that introduced it.
    """

    since: int
    version: int


SUCCESSORS: dict[str, Successor] = {
    "AvgPool": Successor(1, 14),
    "Broadcast": Successor(1, 3),
    "DeformableConvolution": Successor(1, 8),
    "DetectionOutput": Successor(1, 8),
    "Gather": Successor(1, 8),
    "NonMaxSuppression": Successor(5, 9),
    "Pad": Successor(1, 12),
    "PriorBox": Successor(1, 8),
    "Proposal": Successor(1, 4),
    "ROIAlign": Successor(3, 9),
    "Range": Successor(1, 4),
    "ScatterElementsUpdate": Successor(3, 12),
    "ScatterNDUpdate": Successor(4, 15),
    "ShapeOf": Successor(1, 3),
    "TopK": Successor(1, 11),
}
"""Kind -> a later version of the operation that replaces earlier ones, because it accepts the same attributes and
operands.
"""

UNVERSIONED_OPERATIONS: dict[str, int] = {
    "Assign": 6,
    "BatchNormInference": 5,
    "GatherND": 8,
    "Interpolate": 4,
    "LSTMCell": 4,
    "MVN": 6,
    "MulticlassNms": 8,
    "ReadValue": 6,
}
"""Type -> the operation set of the version that a class without a version means, if that is neither the oldest nor a
successor.
"""


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


def advice_on_version(type_: str, version: str) -> str | None:
    """A hint for a type that an operation set does not have; None if the version names no operation set."""
    if opset_number(version) is None:
        return None
    try:
        return f"it is in {opset.versions(kind_of_layer_type(type_))[0].partition('.')[0]} and later"
    except KeyError:
        kinds = {name.partition(".")[2] for name in opset.names()}
        own = "an operation of your own has the version 'extension'"
        return did_you_mean(type_, {*kinds, *map(layer_type_of, kinds)}, own)


def layer_type_of(kind: str) -> str:
    """The type in the IR of a kind of the operation sets."""
    return layer_type(opset.newest(kind))


def standard_operation(type_: str, version: str | None) -> type[OpsetOp] | None:
    """The class of an operation of an operation set: the version that the set has, or its successor.

    Without a version it is the oldest one, with few exceptions, as in Model Optimizer. None if there is no such
    operation.
    """
    type_ = kind_of_layer_type(type_)
    try:
        names = opset.versions(type_)
    except KeyError:
        return None
    successor = SUCCESSORS.get(type_)
    number = opset_number(version)
    if number is None:
        meant = UNVERSIONED_OPERATIONS.get(type_) or (successor.version if successor is not None else None)
        name = names[0] if meant is None else f"opset{meant}.{type_}"
        return opset.operation(name) if version in UNVERSIONED else None
    introduced = {int(name.partition(".")[0].removeprefix("opset")): name for name in names}
    in_force = max((candidate for candidate in introduced if candidate <= number), default=None)
    if in_force is None:
        return None
    if successor is not None and successor.since <= in_force < successor.version:
        in_force = successor.version
    return opset.operation(introduced[in_force])
