"""Records of an older version of an operation, and of what releases compute wrongly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from moir.support.records import Record

if TYPE_CHECKING:
    from moir.dialects.opset.interfaces.operation import OpsetOp

NONE_LOST: Mapping[str, Callable[[object], bool]] = MappingProxyType({})


class EarlierVersion(Record):
    """An older version of an operation, with the same operands in the same order.

    Args:
        newer: the name of the operation, `opset15.Squeeze`.
        older: the name of the version that replaces it, `opset1.Squeeze`.
        only: conditions on values of properties under which both versions compute the same; by name of the property.
            Properties that the older version does not have are left out.
        unused_results: results that the older version does not have, so that nothing may use them.
    """

    newer: str
    older: str
    only: Mapping[str, Callable[[object], bool]] = NONE_LOST
    unused_results: int = 0


class Limitation(Record):
    """Operations that older releases read, but compute wrongly or refuse, with what is written instead.

    Args:
        operation: the name of the operation.
        until: the first release that computes it right.
        when: a condition on the operation.
        what: what the older releases do not compute, a noun clause.
        instead: `module:function` of the expansion that replaces the operation.
    """

    operation: str
    until: str
    when: Callable[[OpsetOp], bool]
    what: str
    instead: str
