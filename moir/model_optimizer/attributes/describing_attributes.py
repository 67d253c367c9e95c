"""Which attributes of a node say what its operation computes, by the names in Model Optimizer.

Setting one of them changes the operation, or is an error; any other attribute is the extension's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from xdsl.ir import Operation

from moir.dialects import opset
from moir.dialects.framework import FrameworkOp, operation_of_name
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import property_table
from moir.dialects.opset.xml import kind_of_layer_type
from moir.model_optimizer.attributes.standard_attributes import STANDARD
from moir.model_optimizer.block.operation_names import FRONT_TYPES, class_names, class_type
from moir.model_optimizer.frameworks.extracted import Extracted
from moir.model_optimizer.frameworks.onnx.attributes import EXTRACTED
from moir.model_optimizer.frameworks.onnx.names import onnx_version

FIXED_IN_SETS = frozenset(("group", "pool_method", "global_pool"))
"""Attributes that an operation of an operation set has by being what it is."""


def extracted_attributes(op: Operation) -> Mapping[str, Extracted]:
    """The attributes an operation has by Model Optimizer's names."""
    return STANDARD.get(op.KIND, {}) if isinstance(op, OpsetOp) else EXTRACTED.get(op.name, {})


@cache
def describing_names(operation: type[FrameworkOp]) -> frozenset[str]:
    """The attributes that say what the operations of a class compute, by the names in Model Optimizer.

    They are those that nodes of the same `op` have in any framework, and in the operation sets.
    """
    names = frozenset(class_names(operation))
    found = {key for name, entries in EXTRACTED.items() if names & set(class_names(operation_of_name(name))) for key in entries}
    type_ = class_type(operation)
    if type_ is not None and type_ not in FRONT_TYPES.values():
        kind = kind_of_layer_type(type_)
        found.update(STANDARD.get(kind, ()), property_table(opset.newest(kind)).specs)
    return frozenset(found)


def attributes_of_onnx(op: FrameworkOp) -> frozenset[str] | None:
    """The attributes of an ONNX operation in its version; None for operations of other frameworks and domains."""
    return _attributes_of_onnx(op.KIND, onnx_version(op)) if op.name.startswith("onnx.") and "." not in op.KIND else None


@cache
def _attributes_of_onnx(kind: str, version: int) -> frozenset[str] | None:
    from onnx import defs

    try:
        return frozenset(defs.get_schema(kind, min(version, defs.onnx_opset_version())).attributes)
    except defs.SchemaError:
        return None
