"""The attributes of a node that determine what its operation computes, by their names in Model Optimizer.

Setting one of them changes the operation, or is an error; any other attribute is the extension's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from xdsl.ir import Operation

from moir.dialects import opset
from moir.dialects.framework import FrameworkOp
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import property_table
from moir.dialects.xml import kind_of_layer_type
from moir.model_optimizer.attributes.standard_attributes import STANDARD
from moir.model_optimizer.block.operation_names import FRONT_TYPES, class_names, class_type
from moir.model_optimizer.frameworks.extracted import Extracted
from moir.model_optimizer.frameworks.lookup import Views, names_of_kind, view_of, view_of_operation, views

FIXED_IN_SETS = frozenset(("group", "pool_method", "global_pool"))
"""Attributes whose values follow from the kind of an operation of an operation set, so that they cannot be set."""


def extracted_attributes(op: Operation) -> Mapping[str, Extracted]:
    """The records of the attributes of an operation that have another name or form in Model Optimizer, by these
    names.
    """
    if isinstance(op, OpsetOp):
        return STANDARD.get(op.KIND, {})
    return view_of_operation(op).attributes.get(op.KIND, {}) if isinstance(op, FrameworkOp) else {}


def describing_names(operation: type[FrameworkOp]) -> frozenset[str]:
    """The attributes that determine what the operations of a class compute, by the names in Model Optimizer.

    They are the attributes of nodes of the same `op` in any framework, and in the operation sets.
    """
    return _describing_names(operation, views())


@cache
def _describing_names(operation: type[FrameworkOp], frameworks: Views) -> frozenset[str]:
    names = frozenset(class_names(operation))
    listed = ((dialect, kind, entries) for dialect, _ in frameworks for kind, entries in view_of(dialect).attributes.items())
    describing = {key for dialect, kind, entries in listed if names.intersection(names_of_kind(dialect, kind)) for key in entries}
    type_ = class_type(operation)
    if type_ is not None and type_ not in FRONT_TYPES.values():
        kind = kind_of_layer_type(type_)
        describing.update(STANDARD.get(kind, ()), property_table(opset.newest(kind)).specs)
    return frozenset(describing)
