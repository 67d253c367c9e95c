"""Result types of operations that extensions made, by the functions that they give: `infer` for shapes and values, `type_infer`.

Both get a node and set what they find out at its output ports. Without `type_infer`, the first result has the type in the attribute
`data_type`, and everything else that of the first input (`graph.inference`). An operation without `infer` has results of unknown
shape.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from moir import frameworks
from moir.analysis.known_values import KnownValues
from moir.dialects.extension import ExtensionOp
from moir.dialects.framework import MODEL_OPTIMIZER, FrameworkOp, operation_class
from moir.dialects.inference import set_type
from moir.dialects.names import name_of
from moir.dialects.opset.base import Types
from moir.dialects.python_object import python_entries, set_python_entries
from moir.dialects.shapes import UNKNOWN
from moir.errors import ConversionError
from moir.lowering.driver import Lowering
from moir.model_optimizer.graph.inference import infer_node as infer_graph_node
from moir.model_optimizer.graph.inference import infer_types
from moir.model_optimizer.graph.node import Node as GraphNode
from moir.model_optimizer.lowering.node import ForeignNode
from moir.model_optimizer.lowering.versions import standard_operation
from moir.rewriting.builder import OpBuilder

VALUE_LIMIT = 4096
"""Values of results with more elements are not passed on by `infer_by_lowering`."""


def own_infer(node: ForeignNode) -> Callable[[GraphNode], object] | None:
    """The `infer` of an extension; None if there is none, or the operation has that of the built-in operations."""
    function = node.get("infer")
    return None if function is infer_by_lowering or not callable(function) else function


def infer_node(node: ForeignNode) -> None:
    """Give the results of an operation the types that its functions say; without `infer` their shapes stay unknown.

    Raises ConversionError where a function fails, or leaves a shape undefined.
    """
    if own_infer(node) is not None:
        is_standard = node.type is not None and standard_operation(node.type, node.get("version")) is not None
        infer_graph_node(node.view, may_be_undefined=is_standard and _is_empty(node.get("infer")))
    else:
        infer_types(node.view)


def _with_docstring(node: GraphNode) -> None:
    """Nothing."""


def _without_docstring(node: GraphNode) -> None:
    pass


def _is_empty(function: Callable[..., object]) -> bool:
    """Whether a function has no statement, as the `infer` of an operation that only says what it is; shapes follow from its definition."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_code in (_with_docstring.__code__.co_code, _without_docstring.__code__.co_code)


def infer_by_lowering(node: GraphNode) -> None:
    """The `infer` of the operations that are built in: shapes, types and values of the results are those of what it is lowered to."""
    from moir.model_optimizer.lowering.operation import translate
    from moir.model_optimizer.lowering.views import lowering_in

    op = node.operation
    if not isinstance(op, FrameworkOp) or op.parent is None:
        return
    lowering = lowering_in(node.graph)
    foreign = ForeignNode(op, 1, lowering)
    builder = OpBuilder(lowering.known, op.parent, op)
    built: list[Operation] = []
    builder.inserted = built
    try:
        replacement = translate(foreign, builder)
        values = [replacement] if isinstance(replacement, SSAValue) else replacement or []
        for index, value in enumerate(values[: len(op.results)]):
            if value is None:
                continue
            set_type(op.results[index], value.type)
            known = lowering.known.constant(value)
            if known is not None and known.size <= VALUE_LIMIT and node.graph.stage != "front":
                node.out_port(index).data.set_value(np.array(known))
    except ConversionError as error:
        if error.node is not None:
            raise
        raise type(error)(error.reason, operation=op.name, node=name_of(op), hint=error.hint) from error
    finally:
        for each in reversed(built):
            each.detach()
            each.erase()


@dataclass(frozen=True)
class ExtensionTypes:
    """Result types of an operation of the dialect `extension`: as they are while its operands have the types given here, otherwise those
    that the functions among its Python attributes say."""

    operands: tuple[Attribute, ...]

    def __call__(self, op: ExtensionOp, known: KnownValues) -> Types | None:
        entries: dict[str, Any] = dict(python_entries(op))
        operands = tuple(operand.type for operand in op.operands)
        if operands == self.operands or not callable(entries.get("infer")) or op.parent is None:
            return None
        # The functions see the operation as they did at first: as one of Model Optimizer, whose results nothing is known of.
        twin = operation_class(MODEL_OPTIMIZER, op.KIND).create(
            operands=op.operands, result_types=[UNKNOWN] * len(op.results), attributes=dict(op.attributes)
        )
        set_python_entries(twin, {name: value for name, value in entries.items() if not name.startswith("$")})
        op.parent.insert_op_before(twin, op)
        try:
            infer_node(ForeignNode(twin, 1, Lowering(frameworks.MODEL_OPTIMIZER)))
            return [result.type for result in twin.results]
        finally:
            twin.detach()
            twin.erase()
