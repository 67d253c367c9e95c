"""One operation of the `mo` dialect: what becomes of it.

An operation whose kind has a handler is lowered by it. Another one with a `type` is written as its `backend_attrs` say: as an operation of
an operation set, if these have it, else as one of the dialect `extension`. One without `type` stays, with the types its `infer` gives it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue, SSAValues
from xdsl.utils.exceptions import VerifyException

from moir.dialects.assembly import LAYER_VERSION
from moir.dialects.data import DataAttr
from moir.dialects.extension import EXTENSION, TYPES, extension_class
from moir.dialects.opset.base import OpsetOp, property_table
from moir.dialects.properties import string_attribute
from moir.dialects.python_object import python_entries, set_python_entries
from moir.dialects.shapes import element_of, rank_of
from moir.errors import ConversionError, InferenceError
from moir.lowering.binder import LoweringNode
from moir.lowering.table import Handler, LoweringTable, Replacement
from moir.model_optimizer.graph.definitions import operand_limit, operands_required
from moir.model_optimizer.graph.sentinels import SENTINELS
from moir.model_optimizer.graph.xml_attributes import xml_attributes
from moir.model_optimizer.lowering.inference import ExtensionTypes, infer_node, own_infer
from moir.model_optimizer.lowering.node import ForeignNode
from moir.model_optimizer.lowering.table import mo
from moir.model_optimizer.lowering.versions import UNVERSIONED, is_standard, opset_number, standard_operation
from moir.model_optimizer.lowering.xml_properties import properties_of
from moir.rewriting.builder import OpBuilder

logger = logging.getLogger("moir")

IMAGE_RANKS = (4, 5)
"""Ranks of tensors that Model Optimizer brought to another layout."""


def lower_operation(node: LoweringNode, op: OpBuilder) -> Replacement | None:
    """Lower an operation of the `mo` dialect; None if it stays as it is."""
    if isinstance(node.op, SENTINELS):
        return None if node.op.results[0].uses else []
    foreign = ForeignNode.of(node)
    if own_infer(foreign) is not None:
        infer_node(foreign)
        _erase_unused_sentinels(op.block)
        if (values := _constants(foreign, op)) is not None:
            return values
    op.inserted = built = list[Operation]()
    replacement = translate(foreign, op)
    for each in built:
        try:
            each.verify()
        except VerifyException as error:
            node.fail(f"it would be an operation {each.name} that is not valid: {str(error).splitlines()[0]}")
    return replacement


def _erase_unused_sentinels(block: Block) -> None:
    """Erase what an `infer` that disconnects inputs leaves at the beginning of a block."""
    current = block.first_op
    while isinstance(current, SENTINELS):
        following = current.next_op
        if not current.results[0].uses:
            current.detach()
            current.erase()
        current = following


def translate(node: ForeignNode, op: OpBuilder) -> Replacement | None:
    """Build what an operation means in front of it, its own `infer` aside; None if that is nothing."""
    type_, version = node.type, node.get("version")
    version = None if version is None else str(version)
    # A `type` like Pooling was turned into one of an operation set (AvgPool, MaxPool) at the end of the conversion.
    if type_ is None or opset_number(version) is not None or (is_standard(type_) and version in UNVERSIONED):
        handler = mo.handler(node.kind, 1)
        if handler is not None:
            replacement = cast(Any, handler)(node, op)
            if replacement is not NotImplemented:
                return replacement
    if type_ is None:
        return None
    texts = xml_attributes(node.view)
    operation = standard_operation(type_, version)
    if operation is not None:
        return standard(node, op, operation, texts)
    return extension(node, op, type_, version, texts)


def standard(node: ForeignNode, op: OpBuilder, operation: type[OpsetOp], texts: dict[str, str]) -> Sequence[SSAValue]:
    """An operation of an operation set with the attributes given as texts of the IR."""
    return build(node, op, operation, node.all_operands(), properties_of(operation, texts))


def build(
    node: ForeignNode, op: OpBuilder, operation: type[OpsetOp], operands: Sequence[SSAValue | None], properties: dict[str, Attribute]
) -> Sequence[SSAValue]:
    """Build an operation; attributes that it must have and that follow from its operands need not be given."""
    specs = property_table(operation).specs
    for name, default in _COMPLETED.items():
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
        return tuple(op.create(operation, list(operands), properties, len(node.op.results)).results)
    except (IndexError, ValueError) as error:
        raise InferenceError(f"its inputs or attributes do not fit {operation.name}: {error}") from error


def _destination(node: ForeignNode) -> Attribute | None:
    return node.element_attribute("dst_type") if node.has("dst_type") else None


def _operand_element(node: ForeignNode) -> Attribute | None:
    value = node.optional(0)
    return None if value is None else element_of(value)


_COMPLETED: dict[str, Callable[[ForeignNode], Attribute | None]] = {"destination_type": _destination, "output_type": _operand_element}


def extension(node: ForeignNode, op: OpBuilder, type_: str, version: str | None, texts: dict[str, str]) -> Sequence[SSAValue]:
    """An operation of the dialect `extension`. It keeps the Python attributes of the node: its `infer` is one of them."""
    operands = node.operands
    if own_infer(node) is None:
        infer_node(node)
    if node.is_channel_last and any(rank_of(operand) in IMAGE_RANKS for operand in operands):
        logger.warning(
            "%s %r gets its data in the layout of the framework, channels last; Model Optimizer gave it [N, C, …]", type_, node.name
        )
    properties: dict[str, Attribute] = {name: string_attribute(text) for name, text in texts.items()}
    built = extension_class(type_).create(operands=operands, properties=properties)
    built.results = SSAValues(OpResult(result.type, built, result.index) for result in node.op.results)
    entries = dict(python_entries(node.op))
    entries[TYPES] = ExtensionTypes(tuple(operand.type for operand in operands))
    set_python_entries(built, entries)
    if version not in UNVERSIONED and version != EXTENSION:
        built.attributes[LAYER_VERSION] = string_attribute(str(version))
    op.insert(built)
    return tuple(built.results)


def _constants(node: ForeignNode, op: OpBuilder) -> Sequence[SSAValue | None] | None:
    """The results as constants if `infer` said the values of all that are used."""
    from moir.model_optimizer.graph.data import VALUES

    values: dict[int, Any] = python_entries(node.op).get(VALUES, {})
    used = [result for result in node.op.results if result.uses]
    if not used or any(result.index not in values or values[result.index].dtype == object for result in used):
        return None
    if node.type is None and mo.handler(node.kind, 1) is not None:
        return None
    found: list[SSAValue | None] = [None] * len(node.op.results)
    for result in used:
        element = element_of(result)
        try:
            found[result.index] = op.constant(DataAttr.of(values[result.index], element).array, element)
        except (KeyError, ValueError) as error:
            raise ConversionError(f"the value of output {result.index} cannot be a constant: {error}") from error
    return found


class Handlers(LoweringTable):
    """The table of the `mo` dialect as the driver sees it: one handler for all kinds."""

    def handler(self, kind: str, version: int) -> Handler | None:
        """The handler of a kind."""
        return lower_operation


handlers = Handlers("mo")
