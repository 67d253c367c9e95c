"""Builds the operations of a block: inlines calls, captures values in regions, computes quantized tensors as reals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.ir import Block as IRBlock

from moir.dialects import opset
from moir.dialects.data import Array, DataAttr
from moir.dialects.discardable import DIMENSION_NAMES
from moir.dialects.framework import operation_class
from moir.dialects.properties import attribute_of, string_attribute, strings_attribute
from moir.dialects.shapes import UNKNOWN, Shape, is_static, shape_of, tensor
from moir.frontends.operations import Operations, named
from moir.frontends.stablehlo.builder import ProgramBuilder
from moir.frontends.stablehlo.checks import fault_of, is_in_bytes, narrow_fault
from moir.frontends.stablehlo.composites import KNOWN_COMPOSITES
from moir.frontends.stablehlo.devices import APPLIED_REGIONS, DEVICE_NUMBERS, GROUPED, is_identity, several_devices
from moir.frontends.stablehlo.element_types import CARRIERS, ELEMENTS, NARROW_INTEGERS, STORED, constant_data
from moir.frontends.stablehlo.program import Block, Dense, Operation, Quantized, TensorType, Type, Value, free_values
from moir.frontends.stablehlo.properties import properties_of

_ONE_DEVICE = "export the program for one device"
_CONTROL_FLOW = frozenset(("case", "if", "while"))
_SHAPE_ASSERTION = "shape_assertion"
DYNAMIC_CALLS = frozenset(("stablehlo.dynamic_reduce_window", "stablehlo.dynamic_top_k"))
"""The names of custom calls that stand for an operation of StableHLO with sizes as operands."""


class Scope:
    """The operations of a block under construction, and the SSA values for the values of the program.

    Args:
        builder: the builder of the model.
        operations: the operations of the block.
        values: the values.
    """

    def __init__(self, builder: ProgramBuilder, operations: Operations, values: dict[Value, SSAValue]) -> None:
        self.builder = builder
        self.operations = operations
        self.values = values
        self.stored: dict[SSAValue, SSAValue] = {}
        """Constants of narrow element types by the values that have their elements in the carrier."""
        self.constants: dict[SSAValue, DataAttr] = {}
        self.is_named = True
        """Whether the operations have names."""

    # What blocks have

    def parameter(self, type_: TensorType, name: str, dimensions: Sequence[str] = ()) -> SSAValue:
        """Build a Parameter of the model with a name, and the names of its dimensions."""
        attributes: dict[str, Attribute] = {**named(name, name)}
        if any(dimensions):
            attributes[DIMENSION_NAMES] = strings_attribute(dimensions)
        return self.operations.parameter(_stored(type_) or self.type_of(type_), attributes)

    def _carried(self, value: SSAValue, type_: Type, operation: Operation) -> SSAValue:
        """A value converted to the carrier, an element type that holds the narrow one of `type_`; else unchanged."""
        carried = self.type_of(type_)
        return value if carried == value.type or carried is UNKNOWN else self._plain("convert", [value], carried, operation)

    def argument(self, argument: Value, name: str, dimensions: Sequence[str]) -> None:
        """Build the Parameter for an argument of the model, and convert it to the carrier of a narrow element type."""
        type_ = cast(TensorType, argument.type)
        value = self.parameter(type_, name, dimensions)
        self.values[argument] = self._carried(value, type_, Operation("convert", [], {}))

    def result(self, value: SSAValue, type_: Type) -> SSAValue:
        """A result of the model, converted to its narrow element type if the IR has that."""
        own = _stored(type_)
        return value if own is None else self._plain("convert", [value], own, Operation("convert", [], {}))

    def inner_parameter(self, type_: Attribute) -> SSAValue:
        """Build a Parameter of a region."""
        return self.operations.parameter(type_)

    def constant(self, array: Array, name: str, element: Attribute | None = None) -> SSAValue:
        """Build a constant from an array."""
        return self.constant_of(DataAttr.of(array, element), name)

    def constant_of(self, data: DataAttr, name: str) -> SSAValue:
        """Build a constant from given data."""
        value = self.operations.constant(data, named(self.builder.name(name)) if self.is_named else None)
        self.constants[value] = data
        return value

    def type_of(self, type_: Type) -> Attribute:
        """The IR type of a type; for a quantized tensor, that with its integers; UNKNOWN if it is no tensor type."""
        if not isinstance(type_, TensorType):
            return UNKNOWN
        element = type_.element.storage if isinstance(type_.element, Quantized) else type_.element
        return tensor(type_.shape, CARRIERS.get(element, element))

    def value(self, value: Value, operation: Operation) -> SSAValue:
        """The SSA value of an operand of an operation. Raises ModelFileError if it is not defined yet."""
        known = self.values.get(value)
        if known is None:
            raise self.builder.error("it uses a value that is not defined before it", operation.kind, operation.name)
        return known

    # Calls and operations

    def called(self, block: Block) -> tuple[list[SSAValue], list[Type]]:
        """Build the operations of a block whose arguments are bound; returns the values it returns and their types."""
        self.builder.enter()
        for operation in block.operations:
            if operation.kind in ("return", "func.return", "sdy.return"):
                self.builder.leave()
                returned = operation.operands
                return [self.value(each, operation) for each in returned], [each.type for each in returned]
            self.operation(operation)
        raise self.builder.error("a block has no return")

    def operation(self, operation: Operation) -> None:
        """Build an operation, or the operations that replace it."""
        kind = operation.kind
        if kind in ("func.call", "call"):
            self._call(operation, str(operation.attributes.get("callee", "")))
        elif kind == "composite" and str(operation.attributes.get("name")) not in KNOWN_COMPOSITES:
            self._call(operation, str(operation.attributes.get("decomposition", "")))
        elif kind == "constant":
            self._constant(operation)
        elif is_identity(operation):
            self._replace(operation, [self.value(each, operation) for each in operation.operands])
        elif kind in APPLIED_REGIONS and len(operation.regions) == 1:
            self._replace(operation, self._applied(operation.regions[0], operation))
        elif kind in GROUPED:
            if reason := several_devices(operation):
                raise self.builder.error(reason, kind, operation.name, hint=_ONE_DEVICE)
            self._replace(operation, [self.value(each, operation) for each in operation.operands])
        elif kind in DEVICE_NUMBERS:
            self._replace(operation, [self.constant(np.array(0, np.uint32), kind)])
        elif kind == "custom_call" and operation.attributes.get("call_target_name") == _SHAPE_ASSERTION:
            return
        elif kind == "custom_call" and str(operation.attributes.get("call_target_name")) in DYNAMIC_CALLS:
            self._dynamic(operation)
        elif self.is_named and is_in_bytes(operation):
            self._in_bytes(operation)
        elif kind == "convert" and self._rounds_to_narrow(operation):
            self._convert_to_narrow(operation)
        elif any(_quantized(each.type) for each in (*operation.operands, *operation.results)):
            self._of_quantized(operation)
        else:
            operands = [self.value(each, operation) for each in operation.operands]
            if kind == "convert":
                operands = [self.stored.get(each, each) for each in operands]
            self._node(operation, operands, [each.type for each in operation.results])

    def _in_bytes(self, operation: Operation) -> None:
        """Build an operation on integers of less than 8 bits as one on 8 bits; the lowest bits of results are kept."""
        (result,) = operation.results
        element, type_ = cast(Attribute, cast(TensorType, result.type).element), self.type_of(result.type)
        bits = NARROW_INTEGERS[element]
        operands = [self.value(each, operation) for each in operation.operands]
        value = self._plain(operation.kind, operands, type_, operation, properties_of(operation.attributes))
        if CARRIERS[element] == ELEMENTS["ui8"]:
            mask = self.constant(np.array((1 << bits) - 1, np.uint8), "mask")
            value = self._plain("and", [value, mask], type_, operation)
        else:
            count = self.constant(np.array(8 - bits, np.int8), "bits")
            for kind in ("shift_left", "shift_right_arithmetic"):
                value = self._plain(kind, [value, count], type_, operation)
        self.values[result] = value

    def _plain(
        self,
        kind: str,
        operands: Sequence[SSAValue],
        type_: Attribute,
        operation: Operation,
        properties: Mapping[str, Attribute] | None = None,
    ) -> SSAValue:
        """Build a `stablehlo` operation with one result as a part of translating `operation`, whose name it gets."""
        self.builder.count()
        names = {"name": string_attribute(self.builder.name(operation.name or kind))} if self.is_named else {}
        op = operation_class("stablehlo", kind).create(
            operands=list(operands), properties=dict(properties or {}), attributes=names, result_types=[type_]
        )
        self.operations.append(op)
        return op.results[0]

    @staticmethod
    def _rounds_to_narrow(operation: Operation) -> bool:
        """Whether an operation converts to a narrow element type that the IR has, so that it rounds."""
        element = operation.results[0].type.element if operation.results and isinstance(operation.results[0].type, TensorType) else None
        return isinstance(element, Attribute) and element in STORED and element not in NARROW_INTEGERS

    def _convert_to_narrow(self, operation: Operation) -> None:
        """Build a convert to a narrow element type: to this type, which rounds, then back to its carrier."""
        (operand,), (result,) = operation.operands, operation.results
        declared = cast(TensorType, result.type)
        if fault := narrow_fault(operation):
            raise self.builder.error(fault, operation.kind, operation.name)
        element = cast(Attribute, declared.element)
        types = [tensor(declared.shape, element), self.type_of(declared)]
        value = self.value(operand, operation)
        for type_ in types:
            value = self._plain("convert", [value], type_, operation)
        self.values[result] = value

    def _call(self, operation: Operation, name: str) -> None:
        function = self.builder.function(name, operation)
        values = self._applied(function.body, operation)
        if len(values) != len(operation.results):
            raise self.builder.error(f"the function {name!r} returns {len(values)} values", operation.kind, operation.name)
        self.values.update(zip(operation.results, values, strict=True))

    def _applied(self, block: Block, operation: Operation) -> list[SSAValue]:
        """Inline a block on an operation's operands; returns its results. Raises ModelFileError if they do not fit."""
        if len(block.arguments) != len(operation.operands):
            reason = f"its region has {len(block.arguments)} arguments for {len(operation.operands)} operands"
            raise self.builder.error(reason, operation.kind, operation.name)
        inner = Scope(self.builder, self.operations, {each: self.values[each] for each in free_values(block) if each in self.values})
        inner.constants, inner.is_named = self.constants, self.is_named
        for argument, operand in zip(block.arguments, operation.operands, strict=True):
            inner.values[argument] = self.value(operand, operation)
        return inner.called(block)[0]

    def _replace(self, operation: Operation, values: Sequence[SSAValue]) -> None:
        """Let values be the results of an operation. Raises ModelFileError for a value of another shape."""
        for result, value in zip(operation.results, values, strict=False):
            declared, actual = self.type_of(result.type), value.type
            if declared is not UNKNOWN and not _may_equal(shape_of(declared), shape_of(actual)):
                raise self.builder.error("it splits a tensor between several devices", operation.kind, operation.name, hint=_ONE_DEVICE)
            self.values[result] = value

    def _dynamic(self, operation: Operation) -> None:
        """Build an operation with operands as sizes, from a custom call of JAX; functions it calls become regions."""
        attributes = dict(operation.attributes)
        kind = str(attributes.pop("call_target_name")).removeprefix("stablehlo.")
        called: list[Block] = []
        for name in cast("list[Any]", attributes.pop("called_computations", None) or []):
            if str(name) not in self.builder.program.functions:
                raise self.builder.error(f"it calls a function {str(name)!r} that is not there", kind, operation.name)
            called.append(self.builder.program.functions[str(name)].body)
        self.operation(Operation(kind, operation.operands, attributes, called, operation.results, operation.name))

    def _constant(self, operation: Operation) -> None:
        value = operation.attributes.get("value")
        if not isinstance(value, Dense) or not operation.results or not isinstance(operation.results[0].type, TensorType):
            raise self.builder.error("a constant without elements", operation.kind, operation.name)
        declared = operation.results[0].type
        shape = declared.shape or ()
        if value.values.shape not in (shape, (), (1,)) or not is_static(shape):
            reason = f"a constant of the shape {list(shape)} has elements of the shape {list(value.values.shape)}"
            raise self.builder.error(reason, operation.kind, operation.name)
        array = value.values if value.values.shape == shape else value.values.reshape(())
        element = declared.element.storage if isinstance(declared.element, Quantized) else declared.element
        value = self.constant_of(constant_data(array, element, shape), "constant")
        carried = self._carried(value, declared, operation)
        self.values[operation.results[0]], self.stored[carried] = carried, value

    def _node(
        self,
        operation: Operation,
        operands: Sequence[SSAValue],
        types: Sequence[Type],
        kind: str = "",
        further: Mapping[str, Any] | None = None,
    ) -> list[SSAValue]:
        """Build the operation for one of the program; returns its results. Raises ModelFileError if it is invalid.

        `types` are those of the results; `kind` replaces its own, `further` are added attributes.
        """
        self.builder.count()
        if fault := narrow_fault(operation):
            raise self.builder.error(fault, operation.kind, operation.name, hint="convert the tensor to float32 or int32 before it")
        if fault := fault_of(operation):
            raise self.builder.error(fault, operation.kind, operation.name)
        kind = kind or operation.kind
        attributes = dict(operation.attributes)
        if kind == "composite":
            kind = str(attributes.pop("name"))
            attributes |= cast("dict[str, Any]", attributes.pop("composite_attributes", None) or {})
            attributes.pop("decomposition", None)
            attributes.pop("version", None)
        captured = self._captured(operation)
        properties = properties_of({**attributes, **(further or {})})
        if captured:
            properties["captured"] = attribute_of(len(captured))
        is_named = self.is_named and kind in _CONTROL_FLOW
        regions = [self._region(block, captured, is_named=is_named) for block in operation.regions]
        names = {"name": string_attribute(self.builder.name(operation.name or kind))} if self.is_named else {}
        op = operation_class("stablehlo", kind).create(
            operands=[*operands, *(self.values[each] for each in captured)],
            properties=properties,
            attributes=names,
            result_types=[self.type_of(each) for each in types],
            regions=regions,
        )
        self.operations.append(op)
        for result, value in zip(operation.results, op.results, strict=False):
            self.values[result] = value
        return list(op.results)

    # Regions

    def _captured(self, operation: Operation) -> list[Value]:
        """The values from outside that the regions of an operation use, without constants, which regions copy."""
        captured: dict[Value, None] = {}
        for block in operation.regions:
            for each in free_values(block):
                value = self.values.get(each)
                if value is None:
                    raise self.builder.error("a region uses a value that is not defined before it", operation.kind, operation.name)
                if value not in self.constants:
                    captured[each] = None
        return list(captured)

    def _region(self, block: Block, captured: Sequence[Value], *, is_named: bool) -> Region:
        """Build a region with Parameters for the block's arguments, then for the captured values."""
        inner = Scope(self.builder, Operations(), {})
        inner.is_named = is_named
        for argument in block.arguments:
            inner.values[argument] = inner.inner_parameter(self.type_of(argument.type))
        for each in captured:
            inner.values[each] = inner.inner_parameter(self.values[each].type)
        for each in free_values(block):
            if each not in inner.values:
                inner.values[each] = inner.constant_of(self.constants[self.values[each]], "constant")
        values, _ = inner.called(block)
        results = [opset.operation("opset1.Result").create(operands=[value]) for value in values]
        return Region(IRBlock([*inner.operations.list, *results]))

    # Quantized tensors

    def _of_quantized(self, operation: Operation) -> None:
        """Build an operation on quantized tensors: its operands are dequantized before, its results quantized after."""
        kind = operation.kind
        if kind in _MOVING and _same(operation):
            self._node(operation, [self.value(each, operation) for each in operation.operands], [each.type for each in operation.results])
            return
        operands = [self._number(each, operation) for each in operation.operands]
        results = list(operation.results)
        if kind not in ("uniform_quantize", "uniform_dequantize"):
            types = [_expressed(each.type) for each in results]
            numbers = self._node(operation, operands, types)
        else:
            numbers = operands
        for result, number in zip(results, numbers, strict=False):
            how = _quantized(result.type)
            self.values[result] = number if how is None else self._converted("uniform_quantize", operation, number, how, result.type)

    def _number(self, value: Value, operation: Operation) -> SSAValue:
        how = _quantized(value.type)
        known = self.value(value, operation)
        return known if how is None else self._converted("uniform_dequantize", operation, known, how, _expressed(value.type))

    def _converted(self, kind: str, operation: Operation, value: SSAValue, how: Quantized, type_: Type) -> SSAValue:
        further: dict[str, Any] = {
            "scales": list(how.scales),
            "zero_points": list(how.zeros),
            "storage_min": how.lowest,
            "storage_max": how.highest,
            "element": CARRIERS.get(how.storage, how.storage) if kind == "uniform_quantize" else how.expressed,
        }
        if how.axis is not None:
            further["axis"] = how.axis
        plain = Operation(kind, [], {}, [], [], operation.name)
        return self._node(plain, [value], [type_], kind, further)[0]


def _stored(type_: Type) -> Attribute | None:
    """The IR type of a tensor whose element type is narrow and exists in the IR; None for other types."""
    element = type_.element if isinstance(type_, TensorType) else None
    is_narrow = isinstance(element, Attribute) and element in STORED
    return tensor(cast(TensorType, type_).shape, cast(Attribute, element)) if is_narrow else None


def _may_equal(a: Shape, b: Shape) -> bool:
    """Whether two shapes may be equal: the same rank, and no static dimensions that differ."""
    if a is None or b is None:
        return True
    return len(a) == len(b) and all(m == n or m < 0 or n < 0 for m, n in zip(a, b, strict=True))


_MOVING = frozenset(("transpose", "reshape", "slice", "concatenate", "broadcast_in_dim", "reverse", "gather"))


def _quantized(type_: Type) -> Quantized | None:
    return type_.element if isinstance(type_, TensorType) and isinstance(type_.element, Quantized) else None


def _expressed(type_: Type) -> Type:
    how = _quantized(type_)
    return TensorType(cast(TensorType, type_).shape, how.expressed) if how is not None else type_


def _same(operation: Operation) -> bool:
    """Whether an operation only moves elements, and its operand and results have the same scale and zero point."""
    quantizations = [how for each in (operation.operands[0], *operation.results) if (how := _quantized(each.type)) is not None]
    return len(quantizations) == 1 + len(operation.results) and all(
        each == quantizations[0] and each.axis is None for each in quantizations
    )
