"""Replacing operations that ONNX defines as functions of simpler ones by their definition.

This is for kinds without a lowering. Definitions that depend on attributes and operand types are instantiated for those
of the operation. The package `onnx`, which contains the definitions, is imported at the first use. Source: the operator
schemas of the installed `onnx`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute, SSAValue

from moir.dialects.data import DataAttr
from moir.dialects.framework import FrameworkOp
from moir.dialects.frameworks.onnx import DATA_TYPES
from moir.dialects.moir import is_none
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Constant as ConstantOp
from moir.dialects.properties import value_of
from moir.dialects.shapes import UNKNOWN, element_of, shape_of
from moir.errors import ConversionError
from moir.frontends.onnx.functions import Functions
from moir.frontends.onnx.graph import GraphBuilder
from moir.frontends.onnx.scope import Constant, Scope
from moir.frontends.onnx.structure import SourceNode, StructureReader
from moir.frontends.onnx.tensors import TensorReader
from moir.frontends.operations import Operations

if TYPE_CHECKING:
    from onnx import AttributeProto, FunctionProto, NodeProto, TypeProto

_DATA_TYPE_NUMBERS = {row.element: number for number, row in reversed(DATA_TYPES.items()) if row.element is not None}

_OTHER_MEANING_SINCE = {"Softmax": 13, "LogSoftmax": 13, "Hardmax": 13, "GroupNormalization": 21}
"""Kinds whose meaning changed while attributes and inputs did not, with the operator-set version of the change."""


def expand(op: FrameworkOp, opset_version: int) -> Sequence[SSAValue] | None:
    """Insert the definition of an operation before it.

    Args:
        op: an operation of the `onnx` dialect, which stays in place.
        opset_version: version of the default operator set that its model imports.

    Returns one value for each result, or None if ONNX does not define the operation as a function, or not for these
    operands. Raises ConversionError for attributes that contradict the schema.
    """
    block = op.parent
    if op.regions or block is None or "." in op.KIND:
        return None
    try:
        body = _definition(op, opset_version)
    except (TypeError, ValueError, KeyError, RuntimeError) as error:
        raise ConversionError(f"its ONNX definition cannot be used: {error}", operation=op.name, node=name_of(op)) from error
    if body is None:
        return None
    definition, attributes = body
    reader = StructureReader(Path(f"definition of {op.KIND}"))
    function = reader.function(definition)
    if len(op.operands) > len(function.inputs) or len(op.results) > len(function.outputs):
        return None
    builder = GraphBuilder(reader, TensorReader(reader.path), Functions(reader, []))
    scope = Scope(Operations(), has_tensor_names=False)
    inputs, outputs = (
        [f"{kind} {index}" for index in range(len(values))] for kind, values in (("operand", op.operands), ("result", op.results))
    )
    for name, operand in zip(inputs, op.operands, strict=True):
        scope.values[name] = None if is_none(operand.owner) else operand
        if isinstance(operand.owner, ConstantOp):
            scope.constants[name] = Constant(operand.owner.value, name_of(operand.owner) or name)
    scope.types = {name: result.type for name, result in zip(outputs, op.results, strict=True) if result.type != UNKNOWN}
    call = SourceNode(op.KIND, function.key, name_of(op) or op.KIND, inputs, outputs, attributes)
    builder.call(function, call, scope)
    values = [scope.values.get(name) for name in outputs]
    replacements = [value for value in values if value is not None]
    if len(replacements) < len(values):
        return None
    block.insert_ops_before(scope.operations.list, op)
    return replacements


def _definition(op: FrameworkOp, opset_version: int) -> tuple[FunctionProto, list[AttributeProto]] | None:
    """The definition of an operation for its attributes and operand types, and its attributes, with defaults.

    The newest definition up to the operator-set version is used. If all are newer, the oldest one is, provided that
    every operation in it has the same meaning in the operator-set version. Returns None if there is none.
    """
    from onnx import FunctionProto, NodeProto, defs

    try:
        # The type stubs of onnx lack the methods for definitions.
        schema: Any = defs.get_schema(op.KIND, opset_version, "")
    except defs.SchemaError:
        return None
    attributes = _attributes(op, schema)
    if schema.has_function:
        versions, define = schema.function_opset_versions, schema.get_function_with_opset_version
    else:
        versions = schema.context_dependent_function_opset_versions
        operands = ["" if is_none(value.owner) else f"x{index}" for index, value in enumerate(op.operands)]
        results = [f"y{index}" for index in range(len(op.results))]
        node = NodeProto(op_type=op.KIND, input=operands, output=results, attribute=attributes).SerializeToString()
        types = [_type(value).SerializeToString() for value in op.operands]
        define = partial(_define, schema, node, types)
    older = sorted((version for version in versions if version <= opset_version), reverse=True)
    newer = sorted(version for version in versions if version > opset_version)
    for version in [*older, *newer]:
        data = define(version)
        definition = FunctionProto.FromString(data)
        if data and all(_means_the_same(node, version, opset_version) for node in definition.node):
            return definition, attributes
    return None


def _define(schema: Any, node: bytes, types: list[bytes], version: int) -> bytes:
    return schema.get_context_dependent_function_with_opset_version(version, node, types)


def _means_the_same(node: NodeProto, version: int, opset_version: int) -> bool:
    """Whether a node of one operator-set version is valid in another version, with the same meaning.

    Most new versions of an operation only add element types. Other changes show in attributes or inputs, with the
    exceptions in `_OTHER_MEANING_SINCE`.
    """
    from onnx import defs

    try:
        old: Any = defs.get_schema(node.op_type, version, node.domain)
        new: Any = defs.get_schema(node.op_type, opset_version, node.domain)
    except defs.SchemaError:
        return False
    if old.since_version == new.since_version:
        return True
    if min(version, opset_version) < _OTHER_MEANING_SINCE.get(node.op_type, 0) <= max(version, opset_version):
        return False
    is_known = all(attribute.name in new.attributes for attribute in node.attribute)
    return is_known and new.min_input <= len(node.input) <= new.max_input


def _attributes(op: FrameworkOp, schema: Any) -> list[AttributeProto]:
    """The attributes of an operation as messages, of the types in its schema, with defaults for missing ones."""
    from onnx import helper

    declared: Any = schema.attributes
    messages: list[AttributeProto] = []
    for name, attribute in op.properties.items():
        kind = int(declared[name].type.value) if name in declared else None
        try:
            messages.append(helper.make_attribute(name, _value(attribute), attr_type=kind))
        except AssertionError as error:
            # `make_attribute` reports a list in place of a number, or the reverse, in this way.
            raise ValueError(f"attribute {name} is not of the type that ONNX declares") from error
    defaults = (attribute.default_value for name, attribute in declared.items() if name not in op.properties)
    return messages + [default for default in defaults if default.name]


def _value(attribute: Attribute) -> Any:
    """The Python value or TensorProto of a property, as the functions of `onnx.helper` take it."""
    from onnx import TensorProto

    if isinstance(attribute, DataAttr):
        tensor = TensorProto(dims=attribute.shape, data_type=_DATA_TYPE_NUMBERS[attribute.element])
        if tensor.data_type == TensorProto.STRING:
            tensor.string_data.extend(str(item).encode() for item in attribute.array.ravel())
        else:
            tensor.raw_data = bytes(attribute.contiguous_bytes())
        return tensor
    if isinstance(attribute, ArrayAttr):
        return [_value(item) for item in cast("ArrayAttr[Attribute]", attribute)]
    value = value_of(attribute)
    return list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else value


def _type(value: SSAValue) -> TypeProto:
    """The TypeProto of a value; a dynamic rank or dimension is left out."""
    from onnx import TypeProto

    type_ = TypeProto()
    shape = shape_of(value)
    type_.tensor_type.elem_type = _DATA_TYPE_NUMBERS.get(element_of(value), 0)
    if shape is not None:
        type_.tensor_type.shape.SetInParent()
        for dimension in shape:
            added = type_.tensor_type.shape.dim.add()
            if dimension >= 0:
                added.dim_value = dimension
    return type_
