"""Type inference of nodes: shapes, values and element types of their results.

An operation of an operation set is inferred by its own definition. An operation of the `mo` dialect is inferred by its
attributes `infer` and `type_infer`, functions of the node: the first sets shapes and values of the output ports, the
second element types. Without a `type_infer`, outputs have the element type in the attribute `data_type`, or that of
the first connected input.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from xdsl.ir import SSAValue

from moir.dialects.element_types import dynamic
from moir.dialects.extension import ExtensionOp
from moir.dialects.framework import FrameworkOp
from moir.dialects.inference import infer_operation, set_type
from moir.dialects.opset.infrastructure import Parameter
from moir.dialects.properties import string_attribute
from moir.dialects.shapes import UNKNOWN, element_count, element_of, rank_of, shape_of, tensor
from moir.errors import ConversionError, InferenceError
from moir.extensions.failures import nearest_attribute
from moir.frameworks import FRAMEWORKS
from moir.lowering.driver import infer_kept, is_kept
from moir.model_optimizer.attributes.operation_attributes import OperationAttributes
from moir.model_optimizer.block.making_places import place_of_function
from moir.model_optimizer.block.operation_names import is_mo_operation
from moir.model_optimizer.block.sentinels import is_value, nodes_of
from moir.model_optimizer.block.view import COMPUTED_VALUES, BlockView
from moir.model_optimizer.graph.made_constants import align
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.xml_records import xml_attributes
from moir.model_optimizer.values.python_values import element_type

_SMALL = 1024
"""The largest number of elements of a tensor that may contain a shape or axes.

If its value changes, types of its consumers may change.
"""


def _fail(node: GraphNode, reason: str, hint: str | None = None, location: str | None = None) -> NoReturn:
    raise InferenceError(reason, operation=node.kind_name, node=node.name, hint=hint, location=location)


def infer_node(node: GraphNode, *, may_be_undefined: bool = False) -> bool:
    """Infer the results of an operation node; returns whether a type or a value may have changed.

    Args:
        node: the node.
        may_be_undefined: whether its `infer` need not set the shapes of outputs that are used.

    Raises InferenceError, with the name of the node: if its operands do not fit it; if it has no `infer`; if `infer`
    fails or does not set the shape of an output that is used.
    """
    op = node.ir_operation
    node.graph.trim(op)
    if not is_mo_operation(op):
        framework = FRAMEWORKS[str(node.graph.graph["fw"])]
        if isinstance(op, FrameworkOp) and is_kept(op, framework):
            return infer_kept(op, framework)
        return infer_operation(op, node.graph.known)
    before = [result.type for result in op.results]
    values = OperationAttributes(node.graph, op).hidden(COMPUTED_VALUES)
    infer = node.soft_get("infer", None)
    if infer is None:
        _fail(node, "its shapes cannot be inferred: it has no function infer", "give its Op class an attribute 'infer'")
    _reset(node)
    _call(node, "infer", infer)
    node.graph.trim(op)
    for result in op.results:
        if not may_be_undefined and rank_of(result) is None and node.has_port("out", result.index):
            reason = f"its function infer left the shape of output {result.index} undefined"
            _fail(node, reason, f"set it with out_port({result.index}).data.set_shape", place_of_function(infer))
    infer_types(node)
    changed = values is not None or OperationAttributes(node.graph, op).hidden(COMPUTED_VALUES) is not None
    return changed or any(a != result.type for a, result in zip(before, op.results, strict=False)) or len(before) != len(op.results)


def _reset(node: GraphNode) -> None:
    for result in node.ir_operation.results:
        set_type(result, UNKNOWN)
    OperationAttributes(node.graph, node.ir_operation).set_hidden(COMPUTED_VALUES, None)
    node.graph.known.forget()


def _call(node: GraphNode, name: str, function: Callable[[GraphNode], Any]) -> None:
    if not callable(function):
        _fail(node, f"its attribute {name} is {function!r}, not a function")
    stage = node.graph.stage
    # Shapes are known where inference runs, whatever phase it is called in.
    node.graph.stage = "middle" if stage == "front" else stage
    try:
        function(node)
    except ConversionError as error:
        # The cause has the line of the function.
        operation, given = error.operation or node.kind_name, error.node or node.name
        raise InferenceError(error.reason, operation=operation, node=given, hint=error.hint, location=error.location) from error
    except Exception as error:
        raise InferenceError(
            f"its function {name} failed: {type(error).__name__}: {error}",
            operation=node.kind_name,
            node=node.name,
            hint=nearest_attribute(error),
        ) from error
    finally:
        node.graph.stage = stage


def infer_types(node: GraphNode) -> None:
    """Set the element types of the outputs of a node of the `mo` dialect."""
    op = node.ir_operation
    type_infer = node.soft_get("type_infer", None)
    if type_infer is not None:
        for result in op.results:
            # An element type that was set with a value does not count: type_infer decides.
            set_type(result, tensor(shape_of(result), dynamic))
        _call(node, "type_infer", type_infer)
        return
    data_type = node.soft_get("data_type", None)
    inputs = [element_of(operand) for operand in op.operands if is_value(operand)]
    element = element_type(data_type) if data_type is not None else next(iter(inputs), dynamic)
    for result in op.results:
        if data_type is not None or element_of(result) == dynamic:
            set_type(result, tensor(shape_of(result), element))


def _may_matter(result: SSAValue) -> bool:
    count = element_count(shape_of(result))
    return count is not None and count <= _SMALL


def infer_inputs(graph: BlockView) -> None:
    """Infer the shapes of inputs of the model from the operations that use them.

    The attribute `reverse_infer` of a node of the `mo` dialect, a function of the node, sets shapes of its input
    ports. These functions are called from the last node to the first, while there is an input of dynamic rank.
    """
    nodes = [GraphNode.of(graph, op) for op in nodes_of(graph.block) if is_mo_operation(op)]
    for node in reversed([node for node in nodes if node.has_valid("reverse_infer")]):
        if any(isinstance(op, Parameter) and rank_of(op.results[0]) is None for op in graph.block.ops):
            _call(node, "reverse_infer", node["reverse_infer"])


def infer_changed(graph: BlockView, lower: Callable[[GraphNode], bool] | None = None) -> None:
    """Infer the operations of a sorted block that were changed, and those that depend on them.

    Args:
        graph: the graph, in the middle or back phase.
        lower: called with each node of the `mo` dialect before it is inferred; returns whether it replaced the node by
            operations that are inferred.
    """
    graph.known.forget()
    pending = set(graph.changed_operations)
    for op in list(nodes_of(graph.block)):
        if op not in pending or op.parent is None:
            continue
        align(graph, op)
        node = GraphNode.of(graph, op)
        consumers = [use.operation for result in op.results for use in result.uses]
        if lower is not None and is_mo_operation(op) and lower(node):
            pending.update(consumers)
            graph.known.forget()
            continue
        if isinstance(op, ExtensionOp) and node.has_valid("IE"):
            # The records to be written follow from the attributes, which may have changed.
            op.properties = {name: string_attribute(text) for name, text in xml_attributes(node).items()}
        before: list[Any] = [result.type for result in op.results]
        if infer_node(node) or any(_may_matter(result) for result in op.results) or before != [result.type for result in op.results]:
            pending.update(consumers)
    graph.changed_operations.clear()
