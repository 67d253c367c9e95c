"""The lowering of one operation of the `mo` dialect, and the types of its results.

A kind with a built-in handler is lowered by that. Any other operation with a `type` is written as its `backend_attrs`
say: as an operation of an operation set, if these have the type, else as one of the dialect `extension`. An operation
without `type` stays, with inferred types.

An `infer` that the extension defines runs first. The `infer` of the built-in operations is `infer_by_lowering`: their
results have the types of what they are lowered to.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue, SSAValues
from xdsl.utils.exceptions import VerifyException

from moir import frameworks
from moir.analysis.known_values import KnownValues
from moir.dialects.assembly import LAYER_VERSION
from moir.dialects.data import Array, DataAttr
from moir.dialects.extension import EXTENSION, TYPES, ExtensionOp, extension_class
from moir.dialects.framework import MODEL_OPTIMIZER, FrameworkOp, operation_class
from moir.dialects.inference import set_type
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp, Types
from moir.dialects.opset.interfaces.properties import property_table
from moir.dialects.properties import string_attribute
from moir.dialects.python_object import python_entries, set_python_entries
from moir.dialects.shapes import UNKNOWN, element_of, rank_of, tensor
from moir.errors import ConversionError, InferenceError
from moir.lowering.binder import LoweringNode
from moir.lowering.driver import Lowering
from moir.lowering.table import Replacement
from moir.model_optimizer.attributes.operation_attributes import DESCRIBED_KIND
from moir.model_optimizer.block.making_places import passed_outside, place_of
from moir.model_optimizer.block.operand_counts import operand_limit, operands_required
from moir.model_optimizer.block.sentinels import SENTINELS
from moir.model_optimizer.block.view import COMPUTED_VALUES
from moir.model_optimizer.graph import node_inference
from moir.model_optimizer.graph.attribute_permutation import IMAGE_RANKS, inverse
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.xml_records import xml_attributes, xml_text
from moir.model_optimizer.lowering.layout import as_given, has_channels_second
from moir.model_optimizer.lowering.layout import channel_first as as_channel_first
from moir.model_optimizer.lowering.marked_ports import in_marked_layout
from moir.model_optimizer.lowering.node import MoLoweringNode, run_in
from moir.model_optimizer.lowering.presentation import Presented, channel_first, in_framework_layout, is_presented, permuted_type
from moir.model_optimizer.lowering.table import mo
from moir.model_optimizer.lowering.versions import UNVERSIONED, advice_on_version, is_standard, opset_number, standard_operation
from moir.model_optimizer.lowering.xml_properties import properties_of
from moir.model_optimizer.values import slice_masks
from moir.rewriting.builder import OpBuilder
from moir.suggestions import nearest

logger = logging.getLogger("moir")

_MISSPELLED = 0.75
"""The least similarity of the name of an attribute to the one that was probably meant."""

VALUE_LIMIT = 4096
"""`infer_by_lowering` does not pass on values with more elements."""


DECOMPOSED = frozenset(("BatchNorm",))
"""Values of `op` that Model Optimizer decomposed while it fused, also those of a class of the user with a `type`."""


def lower_operation(node: LoweringNode, op: OpBuilder) -> Replacement | None:
    """Lower an operation of the `mo` dialect; None if it stays as it is.

    An error that no code of an extension raised says where the extension made the node.
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
    if own_infer(mo_node) is not None:
        infer_types(mo_node)
        _erase_unused_sentinels(op.block)
        if (values := _constants(mo_node, op)) is not None:
            return values
    op.inserted = built = list[Operation]()
    replacement = translate(mo_node, op)
    for each in built:
        try:
            each.verify()
        except VerifyException as error:
            node.fail(f"it would be an operation {each.name} that is not valid: {str(error).splitlines()[0]}")
    return replacement


def _erase_unused_sentinels(block: Block) -> None:
    """Erase the sentinels, which are first in a block, of inputs that an `infer` disconnected."""
    current = block.first_op
    while isinstance(current, SENTINELS):
        following = current.next_op
        if not current.results[0].uses:
            current.detach()
            current.erase()
        current = following


def _constants(node: MoLoweringNode, op: OpBuilder) -> Sequence[SSAValue | None] | None:
    """The results as constants, if `infer` set all values that are used and the kind has no built-in handler."""
    values: dict[int, Any] = python_entries(node.op).get(COMPUTED_VALUES, {})
    used = [result for result in node.op.results if result.uses]
    if not used or any(result.index not in values or values[result.index].dtype == object for result in used):
        return None
    if node.type is None and mo.built_in(node.kind) is not None:
        return None
    found: list[SSAValue | None] = [None] * len(node.op.results)
    for result in used:
        element = element_of(result)
        try:
            found[result.index] = op.constant(DataAttr.of(values[result.index], element).array, element)
        except (KeyError, ValueError) as error:
            raise ConversionError(f"the value of output {result.index} cannot be a constant: {error}") from error
    return found


# The operations that replace it.


def translate(node: MoLoweringNode, op: OpBuilder) -> Replacement | None:
    """Build the operations that replace an operation, regardless of its `infer`; None if it stays."""
    type_, version = node.type, node.get("version")
    version = None if version is None else str(version)
    # A `type` like Pooling was turned into one of an operation set (AvgPool, MaxPool) at the end of the conversion.
    is_former = type_ is not None and node.get(DESCRIBED_KIND) is not None and mo.built_in(type_) is not None
    is_unversioned = version in UNVERSIONED and type_ is not None and (is_standard(type_) or is_former)
    if type_ is None or opset_number(version) is not None or is_unversioned or node.kind in DECOMPOSED:
        handler = mo.built_in(node.kind)
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
    """The results of an operation of an operation set with the operands of a node, and the properties that it has.

    A node without `backend_attrs`, as tests describe them, has attributes of the names of the properties.
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
    """Report an operand that the handler did not ask for: without it, the operation would be another one."""
    read = frozenset(node.read_operands)
    for index in range(len(node.op.operands)):
        if index not in read and node.optional(index) is not None:
            node.fail(f"its input port {index} is connected, but a {node.kind} of this form does not take it", hint="disconnect it")


def _warn_of_misspelled(node: MoLoweringNode, properties: Iterable[str]) -> None:
    """Warn of an attribute that one of Model Optimizer's own operations does not have, but one of a similar name."""
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
    """Build an operation of an operation set. Required properties that follow from its operands need not be given."""
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


# The types of its results.


def own_infer(node: MoLoweringNode) -> Callable[[GraphNode], object] | None:
    """The `infer` that an extension defines for an operation; None without one, and for built-in operations."""
    function = node.get("infer")
    return None if function is infer_by_lowering or not callable(function) else function


def infer_types(node: MoLoweringNode) -> None:
    """Infer the types of the results by the functions among the attributes; without `infer` their shapes stay unknown.

    Raises ConversionError where a function fails, or leaves a shape undefined.
    """
    if own_infer(node) is not None:
        is_typed = node.type is not None and standard_operation(node.type, node.get("version")) is not None
        node_inference.infer_node(node.view, may_be_undefined=is_typed and _is_empty(node.get("infer")))
    else:
        node_inference.infer_types(node.view)


def _with_docstring(node: GraphNode) -> None:
    """Nothing."""


def _without_docstring(node: GraphNode) -> None:
    pass


def _is_empty(function: Callable[..., object]) -> bool:
    """Whether a function has no statements.

    Such an `infer` is that of an operation whose shapes follow from its definition.
    """
    code = getattr(function, "__code__", None)
    return code is not None and code.co_code in (_with_docstring.__code__.co_code, _without_docstring.__code__.co_code)


def infer_by_lowering(node: GraphNode) -> None:
    """The `infer` of the built-in operations: infers the results as those of what the operation is lowered to."""
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


@dataclass(frozen=True)
class ExtensionTypes:
    """Infers the result types of an operation of the dialect `extension`.

    While its operands have the types given here, its results keep theirs. For other types, as in a model that is
    reshaped, the functions among its Python attributes are called.

    Args:
        operands: the types.
        entries: the Python attributes that the functions get; None for those of the operation.
        operand_orders: for each operand, the order that makes it the tensor the functions know; None if it is that.
        orders: the same for each result.
        values: number of an operand that counts axes -> its value for the axes that the functions know.
    """

    operands: tuple[Attribute, ...]
    entries: Mapping[str, Any] | None
    operand_orders: tuple[Sequence[int] | None, ...]
    orders: tuple[Sequence[int] | None, ...]
    values: Mapping[int, Array] = field(default_factory=dict[int, Array])

    def __call__(self, op: ExtensionOp, known: KnownValues) -> Types | None:
        entries = python_entries(op) if self.entries is None else self.entries
        operands = tuple(operand.type for operand in op.operands)
        if operands == self.operands or not callable(entries.get("infer")) or op.parent is None:
            return None
        # The functions get the operation as before it was lowered: one of the `mo` dialect whose results have unknown
        # types, on data in the layout of the framework.
        orders = self.operand_orders if len(self.operand_orders) == len(operands) else (None,) * len(operands)
        data = [
            _constant(self.values[index]) if index in self.values else _as_given(operand, order)
            for index, (operand, order) in enumerate(zip(op.operands, orders, strict=True))
        ]
        twin = operation_class(MODEL_OPTIMIZER, op.KIND).create(
            operands=[operand if given is None else given.results[0] for given, operand in zip(data, op.operands, strict=True)],
            result_types=[UNKNOWN] * len(op.results),
            attributes=dict(op.attributes),
        )
        set_python_entries(twin, {name: value for name, value in entries.items() if not name.startswith("$")})
        made = [*(each for each in data if each is not None), twin]
        for each in made:
            op.parent.insert_op_before(each, op)
        try:
            infer_types(MoLoweringNode(twin, 1, Lowering(frameworks.MODEL_OPTIMIZER)))
            return [
                permuted_type(result, None if order is None else inverse(order))
                for result, order in zip(twin.results, self.orders, strict=True)
            ]
        finally:
            for each in reversed(made):
                each.detach()
                each.erase()


def _constant(value: Array) -> Operation:
    data = DataAttr.of(value)
    return Constant.create(properties={"value": data}, result_types=[tensor(data.shape, data.element)])


def _as_given(operand: SSAValue, order: Sequence[int] | None) -> Operation | None:
    """An operation whose result has the type of an operand in the layout of the framework; None if it has it."""
    if order is None:
        return None
    return operation_class(MODEL_OPTIMIZER, "AsGiven").create(result_types=[permuted_type(operand, order)])
