"""Nodes with the same attributes as those from Model Optimizer's own extractors become operations of the framework
again.

    %y = mo.ONNXResize11(%x, %roi, %scales) {framework_operation = "onnx.Resize", node_attributes = {mode: "linear", …}}
->  %y = onnx.Resize(%x, %roi, %scales) {mode = "linear"}

Such a node has the operands of the framework's operation, and its attributes contain nothing that moir does not read
from that operation. So its lowering, and the passes that recognise loops, do not depend on the transformations that
Model Optimizer had for this form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from xdsl.ir import Operation

from moir.dialects.framework import FrameworkOp, operation_of_name
from moir.dialects.names import FRAMEWORK_OPERATION
from moir.dialects.properties import value_of
from moir.dialects.python_object import python_entries, set_python_entries
from moir.frameworks import FRAMEWORKS
from moir.lowering.driver import table_of
from moir.lowering.table import NEWEST
from moir.model_optimizer.attributes.computed_attributes import COMPUTED
from moir.model_optimizer.attributes.describing_attributes import extracted_attributes
from moir.model_optimizer.attributes.hidden_attributes import DESCRIBED_KIND, FORMER_COUNTS
from moir.model_optimizer.attributes.operation_attributes import OperationAttributes, same_value
from moir.model_optimizer.block.operation_names import class_names, class_type, is_mo_operation
from moir.model_optimizer.block.recasting import recast
from moir.model_optimizer.block.sentinels import nodes_of
from moir.model_optimizer.block.view import BlockView
from moir.model_optimizer.frameworks.lookup import original_of, view_of
from moir.model_optimizer.graph.input_orders import order_of

_NOT_COMPARED = frozenset((*COMPUTED, "id", "name", "need_shape_inference", "IE", "in_ports_count", "out_ports_count"))
"""Attributes that do not determine what a node computes, or that follow from the operation."""


def restore_framework_forms(graph: BlockView) -> None:
    """Turn the nodes of a graph whose attributes are still those of the framework's operation into that operation."""
    for op in nodes_of(graph.block):
        if is_mo_operation(op) and (original := op.attributes.get(FRAMEWORK_OPERATION)) is not None:
            _restore(graph, op, operation_of_name(str(value_of(original))))


def _restore(graph: BlockView, op: Operation, operation: type[FrameworkOp]) -> None:
    described, entries = type(op), python_entries(op)
    type_ = entries.get("type")
    is_own_form = type_ is None or (type_ == class_type(operation) and DESCRIBED_KIND in entries)
    operands, results = entries.get(FORMER_COUNTS, (-1, 0))
    is_of_the_form = is_own_form and entries.get("op") in class_names(operation)
    if not _is_read(operation) or not is_of_the_form or operands != len(op.operands) or any(result.uses for result in op.results[results:]):
        return
    order, ordered = order_of(op), tuple(op.operands)
    recast(op, operation)
    set_python_entries(op, {})
    if order is not None:
        op.operands = [ordered[order.index(index)] for index in range(len(order))]
    if _says_the_same(graph, op, entries):
        del op.attributes[FRAMEWORK_OPERATION]
        graph.touch(op)
        graph.forget_operations()
    else:
        recast(op, described)
        set_python_entries(op, entries)
        op.operands = ordered


def _is_read(operation: type[FrameworkOp]) -> bool:
    """Whether moir lowers the framework's operation with the attributes that this operation has.

    An operation of a user's own domain may have the name of one of Model Optimizer's; then only the node's attributes
    tell what it computes.
    """
    framework = FRAMEWORKS.get(operation.name.partition(".")[0])
    is_lowered = framework is not None and table_of(framework).handler(operation.KIND, NEWEST) is not None
    return is_lowered or "." not in operation.KIND


def _says_the_same(graph: BlockView, op: Operation, entries: Mapping[str, Any]) -> bool:
    """Whether the Python attributes of a node, `entries`, equal those that the framework's operation gives its node."""
    known, extracted = OperationAttributes(graph, op), extracted_attributes(op)
    ignored = {*_NOT_COMPARED, *view_of(original_of(op)[0]).messages}
    names = {name for name in (*known, *entries) if name not in ignored and not name.startswith("$")}
    # An extractor may give None for an attribute that the model file lacks.
    unsaid = {name for name in names if name in extracted and extracted[name].source and extracted[name].source not in op.properties}
    return all(_is_same(known.get(name), entries.get(name)) or (name in unsaid and entries.get(name) is None) for name in names)


def _is_same(value: Any, expected: Any) -> bool:
    """Whether two values of an attribute are equal; None stands for an absent attribute, and functions are not
    compared.
    """
    if callable(expected) and not isinstance(expected, type):
        return True
    if value is None or expected is None:
        return value is expected
    return same_value(_plain(value), _plain(expected))


def _plain(value: Any) -> Any:
    """A value with bytes converted to texts and dynamic dimensions to -1."""
    if isinstance(value, np.ma.MaskedArray):
        return cast(Any, value).filled(-1)
    return value.decode() if isinstance(value, bytes) else value
