"""Operations from the attributes of a node: new operations, and replacements of operations of a framework.

Const, Parameter and Result are operations of the operation set in every phase. Every other operation is one of the
`mo` dialect with all attributes in `node_attributes`, until `lower-mo` replaces it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation

from moir.dialects.data import DataAttr
from moir.dialects.framework import MODEL_OPTIMIZER, NEWEST_VERSION, FrameworkOp, operation_class
from moir.dialects.inference import set_type
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Constant, Parameter, Result
from moir.dialects.properties import string_attribute
from moir.dialects.python_object import python_entries, set_python_entries
from moir.dialects.shapes import UNKNOWN, tensor
from moir.errors import ConversionError
from moir.frameworks import FRAMEWORKS
from moir.lowering.driver import table_of
from moir.lowering.table import NEWEST
from moir.model_optimizer.attributes.operation_attributes import OperationAttributes
from moir.model_optimizer.block.making_places import note_place
from moir.model_optimizer.block.operation_names import class_type, is_mo_operation
from moir.model_optimizer.block.recasting import recast
from moir.model_optimizer.block.sentinels import DISCONNECTED, SENTINELS
from moir.model_optimizer.block.view import BlockView
from moir.model_optimizer.frameworks.lookup import view_of, view_of_operation
from moir.model_optimizer.values.python_values import constant_array, element_type
from moir.model_optimizer.values.shapes import type_shape

MADE = "$made"
"""The Python attribute that marks a constant that an extension created without an element type."""

_OWN = frozenset(("id", "kind", "name", "op", "type", "version", "value", "shape", "data_type", "in_ports_count", "out_ports_count", "IE"))
_MAXIMUM_PORTS = 1 << 16


def _constant(attrs: Mapping[str, Any]) -> Operation:
    value = attrs.get("value")
    if value is None:
        raise ConversionError("a Const needs a value", node=attrs.get("name"))
    array = constant_array(value)
    if attrs.get("data_type") is not None and array.dtype.kind not in "OUS":
        array = array.astype(np.dtype(attrs["data_type"]))
    try:
        data = DataAttr.of(array)
    except KeyError as error:
        raise ConversionError(f"a Const cannot have values of type {array.dtype}", node=attrs.get("name")) from error
    return Constant.create(properties={"value": data}, result_types=[tensor(data.shape, data.element)])


def _parameter(attrs: Mapping[str, Any]) -> Operation:
    element = element_type(attrs.get("data_type") or np.float32)
    return Parameter.create(result_types=[tensor(type_shape(attrs.get("shape")), element)])


def _result(graph: BlockView) -> Operation:
    return Result.create(operands=[graph.sentinel(DISCONNECTED)])


MAKERS: dict[str, Callable[[Mapping[str, Any]], Operation]] = {
    "Const": _constant,
    "Constant": _constant,
    "Parameter": _parameter,
    "Placeholder": _parameter,
}
"""`op` -> the function that creates such an operation, for operations without operands."""


def create_operation(graph: BlockView, attrs: Mapping[str, Any], id_: str | None = None) -> Operation:
    """Make an operation without connections at the end of the block of a graph.

    Args:
        graph: the graph.
        attrs: its attributes. `op` (or `type`) is its kind, `in_ports_count` and `out_ports_count` are the numbers of
            its ports (by default 0 and 1).
        id_: the id of its node, if no other node has it.

    Raises ConversionError if the attributes have no kind, or a constant has no value.
    """
    kind = attrs.get("op") or attrs.get("type")
    if not isinstance(kind, str) or not kind:
        raise ConversionError("a node needs an attribute op that says what it is", node=attrs.get("name"))
    if kind == "Result":
        op = _result(graph)
    elif kind in MAKERS:
        op = MAKERS[kind](attrs)
    else:
        return _mo_operation(graph, kind, attrs, id_)
    further = {key: value for key, value in attrs.items() if key not in _OWN and value is not None and key not in ("infer", "type_infer")}
    if isinstance(op, Constant) and attrs.get("data_type") is None:
        further[MADE] = True
    return _finish(graph, op, attrs, further, id_)


def _mo_operation(graph: BlockView, kind: str, attrs: Mapping[str, Any], id_: str | None) -> Operation:
    operation = operation_class(MODEL_OPTIMIZER, kind)
    if operation in SENTINELS:
        raise ConversionError(f"an operation cannot be called {kind!r}", node=attrs.get("name"))
    inputs, outputs = _count(attrs, "in_ports_count", 0), _count(attrs, "out_ports_count", 1)
    operands = [graph.sentinel(DISCONNECTED)] * inputs if inputs else []
    op = operation.create(operands=operands, result_types=[UNKNOWN] * outputs)
    note_place(op)
    entries = {key: value for key, value in attrs.items() if key not in ("id", "name", "kind")}
    return _finish(graph, op, attrs, {"type": None, "version": "experimental", **entries, "op": kind}, id_)


def _count(attrs: Mapping[str, Any], key: str, default: int) -> int:
    count = attrs.get(key)
    if count is None:
        return default
    if not isinstance(count, int | np.integer) or not 0 <= int(cast(Any, count)) <= _MAXIMUM_PORTS:
        raise ConversionError(f"{key} is {count!r}, which is not a number of ports", operation=attrs.get("op"), node=attrs.get("name"))
    return int(cast(Any, count))


def _finish(graph: BlockView, op: Operation, attrs: Mapping[str, Any], entries: Mapping[str, Any], id_: str | None) -> Operation:
    set_python_entries(op, entries)
    op.attributes["name"] = string_attribute(graph.unique_id(str(attrs.get("name") or attrs.get("op") or attrs.get("type"))))
    graph.append(op, id_)
    return op


def become(graph: BlockView, op: Operation, attrs: Mapping[str, Any]) -> None:
    """Turn an operation of a framework into a constant, an input, or one of the `mo` dialect, as `attrs` describe it.

    It keeps its own attributes. Operations of other dialects, and operations without `op` in the attributes, are
    unchanged.

    Raises ConversionError for a constant without a value, and for a constant or input made of an operation with
    several results.
    """
    kind = attrs.get("op")
    if not isinstance(op, FrameworkOp) or not isinstance(kind, str) or is_mo_operation(op):
        return
    if kind not in MAKERS:
        note_place(op)
        identity = {"op": kind, "type": attrs.get("type"), "version": attrs.get("version") or "experimental"}
        OperationAttributes(graph, op).make_mo_operation(identity)
        return
    name = name_of(op) or graph.id_of(op)
    made = MAKERS[kind]({"name": name, **attrs})
    has_no_doubles = view_of_operation(op).has_single_precision
    if len(op.results) != 1:
        raise ConversionError(f"a node with {len(op.results)} outputs cannot be a {kind}", operation=op.name, node=name)
    op.operands = ()
    op.properties = dict(made.properties)
    set_type(op.results[0], made.results[0].type)
    recast(op, type(made))
    if isinstance(made, Constant) and has_no_doubles and attrs.get("data_type") is None:
        set_python_entries(op, {**python_entries(op), MADE: True})
    graph.touch(op)
    graph.forget_operations()


def take_further_operands(graph: BlockView, op: Operation, count: int) -> None:
    """Interpret an operation of a framework that has more operands than in the model as Model Optimizer did.

    If the newest definition of the kind has this number of operands, the further operands stand for former attributes,
    and the operation becomes one of the newest operation set. Otherwise it becomes the operation of the `mo` dialect
    that is named like its counterpart in an operation set of the IR.

    Args:
        graph: the graph.
        op: the operation.
        count: the number of operands the model had.

    Raises ConversionError for an operation without such a counterpart.
    """
    framework, kind = op.name.partition(".")[0], op.KIND if isinstance(op, FrameworkOp) else ""
    if framework == MODEL_OPTIMIZER or not isinstance(op, FrameworkOp):
        return
    view = view_of(framework)
    if view.most_inputs is not None and len(op.operands) <= view.most_inputs(kind):
        op.attributes[NEWEST_VERSION] = UnitAttr()
    elif class_type(type(op)) is not None:
        attributes = OperationAttributes(graph, op)
        attributes.make_mo_operation({key: attributes[key] for key in ("op", "type", "version")})
    elif kind not in view.variadic and framework in FRAMEWORKS and table_of(FRAMEWORKS[framework]).handler(kind, NEWEST) is not None:
        raise ConversionError(
            f"an extension connected its input port {len(op.operands) - 1}, and {kind} has {count} inputs",
            operation=op.name,
            node=name_of(op),
            hint="replace the node by one of an operation that takes it",
        )
