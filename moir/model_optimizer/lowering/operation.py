"""The lowering of one operation of the `mo` dialect, and the types of its results.

A kind with a built-in handler is lowered by that handler. Any other operation with a `type` becomes an operation of an
operation set, if there is one of this type, or else of the dialect `extension`, with the attributes in its
`backend_attrs`. An operation without `type` stays, with inferred types.

An `infer` that the extension defines runs first. The `infer` of the built-in operations is `infer_by_lowering`: their
results have the types of the operations to which they are lowered.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue, SSAValues
from xdsl.utils.exceptions import VerifyException

from moir.dialects.data import DataAttr
from moir.dialects.discardable import LAYER_VERSION, PREFERS_CHANNELS_FIRST
from moir.dialects.extension import EXTENSION, TYPES, extension_class
from moir.dialects.framework import FrameworkOp
from moir.dialects.inference import set_type
from moir.dialects.names import name_of
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import property_table
from moir.dialects.properties import string_attribute
from moir.dialects.python_object import python_entries, set_python_entries
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.errors import ConversionError, InferenceError
from moir.lowering.binder import LoweringNode
from moir.lowering.table import Replacement
from moir.model_optimizer.attributes.hidden_attributes import DESCRIBED_KIND
from moir.model_optimizer.block.making_places import passed_outside, place_of
from moir.model_optimizer.block.operand_counts import operand_limit, operands_required
from moir.model_optimizer.block.sentinels import SENTINELS
from moir.model_optimizer.block.view import COMPUTED_VALUES
from moir.model_optimizer.graph import node_inference
from moir.model_optimizer.graph.attribute_permutation import IMAGE_RANKS
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.operation import Op
from moir.model_optimizer.graph.xml_records import xml_attributes, xml_text
from moir.model_optimizer.lowering.layout import as_given, has_channels_second
from moir.model_optimizer.lowering.layout import channel_first as as_channel_first
from moir.model_optimizer.lowering.marked_ports import in_marked_layout
from moir.model_optimizer.lowering.node import MoLoweringNode, run_in
from moir.model_optimizer.lowering.presentation import Presented, changes_layout, channel_first, in_framework_layout, is_presented
from moir.model_optimizer.lowering.result_types import BuiltInInference, ExtensionTypes, infer_types, own_infer
from moir.model_optimizer.lowering.table import mo
from moir.model_optimizer.lowering.versions import UNVERSIONED, advice_on_version, standard_operation
from moir.model_optimizer.lowering.xml_properties import properties_of
from moir.model_optimizer.values import slice_masks
from moir.rewriting.builder import OpBuilder
from moir.support.suggestions import nearest

logger = logging.getLogger("moir")

_MISSPELLED = 0.75
"""The similarity of two names from which on an attribute counts as misspelled."""

VALUE_LIMIT = 4096
"""The largest number of elements of a value that `infer_by_lowering` sets on a result."""


def lower_operation(node: LoweringNode, op: OpBuilder) -> Replacement | None:
    """Lower an operation of the `mo` dialect; None if it stays.

    An error that was not raised in the code of an extension names the place where the extension made the node.
    """
    try:
        return _lowered(node, op)
    except ConversionError as error:
        if error.location is None and not passed_outside(error):
            error.location = place_of(node.op)
        raise


def _lowered(node: LoweringNode, op: OpBuilder) -> Replacement | None:
    if isinstance(node.op, SENTINELS):
        return None if node.op.results[0].uses else []
    mo_node = MoLoweringNode.of(node)
    if node.run.keeps_layouts and stays(mo_node):
        node_inference.infer_node(mo_node.view)
        return None
    if own_infer(mo_node) is not None:
        infer_types(mo_node)
        _erase_unused_sentinels(op.block)
        if (values := _constants(mo_node, op)) is not None:
            return values
    op.inserted = built = list[Operation]()
    replacement = translate(mo_node, op)
    if getattr(mo.command_line, "extensions", None) and changes_layout(mo_node):
        _prefer_channels_first(built)
    for each in built:
        try:
            each.verify()
        except VerifyException as error:
            node.fail(f"it would be an operation {each.name} that is not valid: {str(error).splitlines()[0]}")
    return replacement


def _prefer_channels_first(built: Iterable[Operation]) -> None:
    """Mark operations on images as preferring channels first, the layout that they had in Model Optimizer."""
    for each in built:
        if isinstance(each, OpsetOp) and each.operands and any(rank_of(result) in IMAGE_RANKS for result in each.results):
            each.attributes[PREFERS_CHANNELS_FIRST] = UnitAttr()


_LAYOUT_KINDS = frozenset(("Convolution", "Conv", "Conv2D", "Conv3D", "Deconvolution", "Deconv2D", "Pooling", "AvgPool", "MaxPool"))
"""The kinds of Model Optimizer's operations with an attribute for their data layout, which their lowering surrounds by
Transposes."""


def stays(node: MoLoweringNode) -> bool:
    """Whether the lowering of an operation waits for the layout change, so that transformations until then find the
    operation.

    That holds for an operation of the user with an `infer` whose data is to be transposed, and for built-in ones with
    channels last that depend on the layout.
    """
    if node.is_built_in:
        return node.kind in _LAYOUT_KINDS and node.is_channel_last
    return node.type is not None and own_infer(node) is not None and is_presented(node)


def _erase_unused_sentinels(block: Block) -> None:
    """Erase the sentinels (operations for absent inputs) at the beginning of a block that an `infer` has left without
    uses.
    """
    current = block.first_op
    while isinstance(current, SENTINELS):
        following = current.next_op
        if not current.results[0].uses:
            current.detach()
            current.erase()
        current = following


def _constants(node: MoLoweringNode, op: OpBuilder) -> Sequence[SSAValue | None] | None:
    """The results as constants, if `infer` has set the values of all results that are used, and the kind has no
    built-in handler.
    """
    values: dict[int, Any] = python_entries(node.op).get(COMPUTED_VALUES, {})
    used = [result for result in node.op.results if result.uses]
    if not used or any(result.index not in values or values[result.index].dtype == object for result in used):
        return None
    if node.type is None and mo.built_in(node.kind) is not None:
        return None
    constants: list[SSAValue | None] = [None] * len(node.op.results)
    for result in used:
        element = element_of(result)
        try:
            constants[result.index] = op.constant(DataAttr.of(values[result.index], element).array, element)
        except (KeyError, ValueError) as error:
            raise ConversionError(f"the value of output {result.index} cannot be a constant: {error}") from error
    return constants


# The operations that replace the operation.


def translate(node: MoLoweringNode, op: OpBuilder) -> Replacement | None:
    """Build the operations that replace an operation, regardless of its `infer`; None if it stays."""
    type_, version = node.type, node.version_text
    handler = node.built_in_handler
    if handler is not None:
        node.read_operands.clear()
        replacement = in_marked_layout(node, op, handler)
        if replacement is not NotImplemented:
            _refuse_unread(node)
            _warn_of_misspelled(node, ())
            return replacement
    if type_ is None:
        return None
    operation = standard_operation(type_, version)
    if operation is not None:
        return in_marked_layout(node, op, lambda node, op: of_operation_set(node, op, operation))
    if version is not None and (advice := advice_on_version(type_, version)) is not None:
        node.fail(f"{version} has no operation {type_}", advice)
    return _extension(node, op, type_, version)


def of_operation_set(node: MoLoweringNode, op: OpBuilder, operation: type[OpsetOp]) -> Sequence[SSAValue]:
    """Build an operation of an operation set with the operands and attributes of a node; returns its results.

    A node without `backend_attrs`, as in tests, has attributes with the names of the properties.
    """
    specs = property_table(operation).specs
    texts = xml_attributes(node.view)
    if not node.has("IE"):
        texts = {name: xml_text(value) for name in specs if (value := node.get(name.replace("-", "_"))) is not None}
    if operation.KIND == "StridedSlice":
        texts = slice_masks.texts_of_the_ir(texts)
    _warn_of_misspelled(node, specs)
    return _standard(node, op, operation, properties_of(operation, texts))


def _refuse_unread(node: MoLoweringNode) -> None:
    """Raise ConversionError for an operand that the handler did not read, because ignoring it would change the
    result.
    """
    read = frozenset(node.read_operands)
    for index in range(len(node.op.operands)):
        if index not in read and node.optional(index) is not None:
            node.fail(f"its input port {index} is connected, but a {node.kind} of this form does not take it", hint="disconnect it")


def _warn_of_misspelled(node: MoLoweringNode, properties: Iterable[str]) -> None:
    """Warn about an attribute whose name resembles that of an attribute of Model Optimizer's operation."""
    if node.get(DESCRIBED_KIND) is None:
        return
    known = {*properties, *node.read_attributes, *node.op.properties}
    for name in python_entries(node.op):
        near = [] if name in known or name.startswith("$") else nearest(name, known, similarity=_MISSPELLED)
        if near:
            place = place_of(node.op)
            logger.warning(
                "%s%s %r has no attribute %r; nearest %s", f"{place}: " if place else "", node.kind, node.name, name, " or ".join(near)
            )


def _standard(node: MoLoweringNode, op: OpBuilder, operation: type[OpsetOp], properties: dict[str, Attribute]) -> Sequence[SSAValue]:
    """Build an operation of an operation set. Required properties may be missing if they follow from the operands."""
    if operation.get_irdl_definition().regions:
        hint = "edit the bodies of one of the model, which its attribute sub_graphs names"
        node.fail(f"an extension cannot make a {operation.KIND}: it would have no bodies", hint)
    operands = node.all_operands()
    if is_second := bool(operands) and has_channels_second(node, operation.KIND):
        operands[0] = as_channel_first(node, op, node.operand(0))
    specs = property_table(operation).specs
    for name, default in _DERIVED.items():
        if name in specs and name not in properties and specs[name].default is None and (value := default(node)) is not None:
            properties[name] = value
    missing = [name for name, spec in specs.items() if spec.default is None and not spec.optional and name not in properties]
    if missing:
        node.fail(f"it has no attribute {', '.join(missing)}", hint="name it in backend_attrs and give it a value")
    for index in range(operands_required(operation)):
        if index >= len(operands) or operands[index] is None:
            node.fail(f"its input port {index} is not connected", hint=f"{operation.name} needs it")
    if len(operands) > operand_limit(operation):
        node.fail(f"{len(operands)} inputs are connected, but {operation.name} has {operand_limit(operation)}")
    try:
        results = tuple(op.create(operation, list(operands), properties, len(node.op.results)).results)
    except (IndexError, ValueError) as error:
        raise InferenceError(f"its inputs or attributes do not fit {operation.name}: {error}") from error
    return tuple(as_given(node, op, each) for each in results) if is_second else results


def _destination(node: MoLoweringNode) -> Attribute | None:
    return node.element_attribute("dst_type") if node.has("dst_type") else None


def _operand_element(node: MoLoweringNode) -> Attribute | None:
    value = node.optional(0)
    return None if value is None else element_of(value)


_DERIVED: dict[str, Callable[[MoLoweringNode], Attribute | None]] = {"destination_type": _destination, "output_type": _operand_element}
"""Property -> function that derives it from a node."""


def _extension(node: MoLoweringNode, op: OpBuilder, type_: str, version: str | None) -> Sequence[SSAValue]:
    """Build an operation of the dialect `extension`, in the layout that Model Optimizer gave its data.

    It keeps the Python attributes of the node: its `infer` is one of them.
    """
    if own_infer(node) is None:
        if any(result.uses and shape_of(result) is None for result in node.op.results):
            _refuse_undefined(node, type_)
        infer_types(node)
    given = _presented(node, op, type_)
    properties: dict[str, Attribute] = {name: string_attribute(text) for name, text in given.texts.items()}
    built = extension_class(type_).create(operands=list(given.operands), properties=properties)
    built.results = SSAValues(OpResult(each, built, index) for index, each in enumerate(given.types))
    entries = dict(given.entries)
    types = tuple(operand.type for operand in given.operands)
    before = python_entries(node.op) if given.operand_orders else None
    entries[TYPES] = ExtensionTypes(types, before, tuple(given.operand_orders), tuple(given.orders), given.values)
    set_python_entries(built, entries)
    if version not in UNVERSIONED and version != EXTENSION:
        built.attributes[LAYER_VERSION] = string_attribute(str(version))
    op.insert(built)
    return given.as_given(op, built, node.name)


def _refuse_undefined(node: MoLoweringNode, type_: str) -> None:
    """Raise ConversionError for an operation whose result shapes are not defined."""
    made_by = Op.registered_ops.get(str(node.get("op")))
    name = "its Op class" if made_by is None else f"its class {made_by.__name__}"
    node.fail(
        f"its shapes cannot be inferred: it has no function infer, and no operation set has a {type_}", f"give {name} an attribute 'infer'"
    )


def _presented(node: MoLoweringNode, op: OpBuilder, type_: str) -> Presented:
    if not is_presented(node):
        return in_framework_layout(node)
    images = [each for each in node.operands if rank_of(each) in IMAGE_RANKS]
    if images and any(rank_of(each) is None for each in node.op.results):
        logger.warning(
            "%s %r gets its data in the layout of the framework, channels last, since the ranks of its outputs are not known; "
            "give its class an infer",
            type_,
            node.name,
        )
        return in_framework_layout(node)
    return channel_first(node, op)


def _infer_lowered(node: GraphNode) -> None:
    """Infer the results of a node from the operations to which it is lowered."""
    op = node.ir_operation
    if not isinstance(op, FrameworkOp) or op.parent is None:
        return
    run = run_in(node.graph)
    builder = OpBuilder(run.known, op.parent, op)
    built: list[Operation] = []
    builder.inserted = built
    try:
        replacement = translate(MoLoweringNode(op, 1, run), builder)
        values = [replacement] if isinstance(replacement, SSAValue) else replacement or []
        for index, value in enumerate(values[: len(op.results)]):
            if value is None:
                continue
            set_type(op.results[index], value.type)
            known = run.known.constant(value)
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


infer_by_lowering = BuiltInInference(_infer_lowered)
"""The `infer` of nodes of the built-in operations."""


def infer_as(
    identity: Callable[[], Mapping[str, Any]], *, keeps_values: bool = True, complete: Callable[[GraphNode], None] | None = None
) -> BuiltInInference:
    """A function `infer` that gives nodes of a user's class the results of a built-in operation; for the arguments see
    `BuiltInInference`.
    """
    return BuiltInInference(_infer_lowered, identity, keeps_values, complete)
