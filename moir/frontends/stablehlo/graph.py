"""A program -> the block of a model in the `stablehlo` dialect.

    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
->  %0 = stablehlo.dot_general(%x, %w) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}

Calls are inlined. A region has a Parameter for each argument of its block, then one for each value that it uses from
around it, which is a further operand of its operation (`captured` says how many). Operations on quantized tensors
compute on real ones, between `uniform_dequantize` and `uniform_quantize`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.ir import Block as IRBlock

from moir.dialects import opset
from moir.dialects.data import Array, DataAttr
from moir.dialects.framework import operation_class
from moir.dialects.names import tensor_names
from moir.dialects.properties import attribute_of, string_attribute
from moir.dialects.shapes import UNKNOWN, tensor
from moir.errors import ModelFileError
from moir.frontends.operations import Operations
from moir.frontends.stablehlo.complex_numbers import in_parts
from moir.frontends.stablehlo.program import Block, Dense, Function, Operation, Program, Quantized, TensorType, Type, Value

MAXIMUM_CALLS = 1 << 16
"""The most calls of functions that are inlined."""

MAXIMUM_OPERATIONS = 1 << 22
"""The most operations of a program whose functions are inlined."""

MAXIMUM_DEPTH = 100
"""How deep calls and regions may be nested."""

KNOWN_COMPOSITES = frozenset(
    (
        *("chlo.acos", "chlo.acosh", "chlo.asin", "chlo.asinh", "chlo.atan", "chlo.atanh", "chlo.conj", "chlo.cosh", "chlo.digamma"),
        *("chlo.erf", "chlo.erfc", "chlo.erf_inv", "chlo.is_inf", "chlo.is_neg_inf", "chlo.is_pos_inf", "chlo.lgamma", "chlo.sinh"),
        *("chlo.square", "chlo.tan", "chlo.top_k"),
    )
)
"""Composites that are operations by themselves; any other one is its decomposition."""

_DROPPED = frozenset(("precision_config", "result_accuracy", "operand_layouts", "result_layouts", "mhlo.sharding", "indices_are_sorted"))
_DROPPED_KINDS = frozenset(("sdy.sharding_constraint", "optimization_barrier", "annotate_device_placement"))
_CONTROL_FLOW = frozenset(("case", "if", "while"))
_SHAPE_ASSERTION = "shape_assertion"


class ProgramBuilder:
    """Builds the block of a program.

    Args:
        program: the program.
        location: its path, for messages.
        platforms: the platforms of a file of `jax.export`.
    """

    def __init__(self, program: Program, location: str, platforms: Sequence[str] = ()) -> None:
        self.program = program
        self.location = location
        self.platforms = list(platforms)
        self.notes: list[str] = []
        self._names: set[str] = set()
        self._repeated: dict[str, int] = {}
        self._calls = 0
        self._built = 0
        self._depth = 0

    def error(self, reason: str, operation: str | None = None, name: str | None = None, hint: str | None = None) -> ModelFileError:
        """The error about the program, or about an operation in it."""
        return ModelFileError(reason, location=self.location, operation=operation, node=name, hint=hint)

    def main(self) -> Function:
        """The function that is the model. Raises ModelFileError if there is none."""
        functions = self.program.functions
        if "main" in functions:
            return functions["main"]
        public = [each for each in functions.values() if each.is_public]
        if len(public) == 1:
            return public[0]
        names = ", ".join(list(functions)[:5]) or "none"
        raise self.error(f"it has no function main; its functions are {names}")

    def block(self) -> IRBlock:
        """The block."""
        self.program = in_parts(self.program, self.main())
        main = self.main()
        scope = Scope(self, Operations(), {})
        names = self._argument_names(main)
        for argument, name, attributes in zip(main.body.arguments, names, _padded(main.argument_attributes, len(names)), strict=True):
            if attributes.get("jax.global_constant") == "_platform_index" or attributes.get("jax.platform_index"):
                scope.values[argument] = scope.constant(np.array(self._platform(), np.int32), "platform_index")
            elif not isinstance(argument.type, TensorType):
                raise self.error(f"the argument {name!r} is no tensor", hint="export the program without tokens and effects")
            else:
                scope.values[argument] = scope.parameter(argument.type, name)
        values, types = scope.called(main.body)
        results: list[Any] = []
        used: set[str] = set()
        for number, (value, type_, attributes) in enumerate(zip(values, types, _padded(main.result_attributes, len(values)), strict=True)):
            del type_
            name = result_name(str(attributes.get("jax.result_info", "")), number, len(values))
            while name in used:
                name = f"{name}_{number}"
            used.add(name)
            results.append(opset.operation("opset1.Result").create(operands=[value], attributes={"name": string_attribute(name)}))
        if not results:
            raise self.error("its function main has no results")
        return IRBlock([*scope.operations.list, *results])

    def _platform(self) -> int:
        """The number of the platform that a program for several is converted for: the CPU."""
        return self.platforms.index("cpu") if "cpu" in self.platforms else 0

    def _argument_names(self, main: Function) -> list[str]:
        """The names of the arguments: those of locations, also of the function that main calls with them."""
        names = {argument: argument.name for argument in main.body.arguments}
        for operation in main.body.operations:
            callee = self.program.functions.get(str(operation.attributes.get("callee", "")))
            if operation.kind in ("func.call", "call") and callee is not None:
                for operand, argument in zip(operation.operands, callee.body.arguments, strict=False):
                    if operand in names and argument.name:
                        names[operand] = names[operand] or argument.name
        found: list[str] = []
        for number, name in enumerate(names.values()):
            unique = name or f"arg{number}"
            found.append(unique if unique not in found else f"{unique}_{number}")
        return found

    def name(self, wanted: str) -> str:
        """A name that no other operation has."""
        unique = wanted
        while unique in self._names:
            self._repeated[wanted] = self._repeated.get(wanted, 0) + 1
            unique = f"{wanted}_{self._repeated[wanted]}"
        self._names.add(unique)
        return unique

    def function(self, name: str, caller: Operation) -> Function:
        """A function that is called. Raises ModelFileError if there is none, or too many calls."""
        self._calls += 1
        if self._calls > MAXIMUM_CALLS:
            raise self.error("it has too many calls")
        found = self.program.functions.get(name)
        if found is None:
            raise self.error(f"it calls a function {name!r} that is not there", caller.kind, caller.name)
        if len(found.body.arguments) != len(caller.operands):
            raise self.error(f"the function {name!r} is called with {len(caller.operands)} values", caller.kind, caller.name)
        return found

    def count(self) -> None:
        """Note that an operation is built."""
        self._built += 1
        if self._built > MAXIMUM_OPERATIONS:
            raise self.error("it has too many operations")

    def enter(self) -> None:
        """Note that a call or a region begins."""
        self._depth += 1
        if self._depth > MAXIMUM_DEPTH:
            raise self.error("calls or regions are nested too deeply", hint="a function that calls itself is not supported")

    def leave(self) -> None:
        """Note that it ends."""
        self._depth -= 1


def _padded(entries: Sequence[Any], count: int) -> list[dict[str, Any]]:
    found = [cast("dict[str, Any]", each) if isinstance(each, dict) else {} for each in entries[:count]]
    return [*found, *({} for _ in range(count - len(found)))]


_KEY = re.compile(r"\['([^']*)'\]|\[(\d+)\]|\.(\w+)")


def result_name(info: str, number: int, count: int) -> str:
    """The name of a result, by the path in the tree that `jax.result_info` says: `result['logits']` -> logits."""
    keys = [next(each for each in found if each) for found in _KEY.findall(info) if any(found)]
    if not keys:
        return "result" if count == 1 else f"result_{number}"
    return "_".join(keys) if not keys[0].isdigit() else "_".join(("result", *keys))


class Scope:
    """The operations of a block under construction, and what stands for the values of the program in it.

    Args:
        builder: the builder of the model.
        operations: the operations of the block.
        values: the values.
    """

    def __init__(self, builder: ProgramBuilder, operations: Operations, values: dict[Value, SSAValue]) -> None:
        self.builder = builder
        self.operations = operations
        self.values = values
        self.constants: dict[SSAValue, DataAttr] = {}
        self.is_named = True
        """Whether the operations have names."""

    # What blocks have

    def parameter(self, type_: TensorType, name: str) -> SSAValue:
        """A Parameter with a name."""
        op = opset.operation("opset1.Parameter").create(
            result_types=[self.type_of(type_)], attributes={"name": string_attribute(name), "tensor_names": tensor_names(name)}
        )
        self.operations.append(op)
        return op.results[0]

    def inner_parameter(self, type_: Attribute) -> SSAValue:
        """A Parameter of a region."""
        op = opset.operation("opset1.Parameter").create(result_types=[type_])
        self.operations.append(op)
        return op.results[0]

    def constant(self, array: Array, name: str, element: Attribute | None = None) -> SSAValue:
        """A constant."""
        return self.constant_of(DataAttr.of(array, element), name)

    def constant_of(self, data: DataAttr, name: str) -> SSAValue:
        """A constant with given data."""
        op = opset.operation("opset1.Constant").create(
            properties={"value": data},
            attributes={"name": string_attribute(self.builder.name(name))} if self.is_named else {},
            result_types=[tensor(data.shape, data.element)],
        )
        self.operations.append(op)
        self.constants[op.results[0]] = data
        return op.results[0]

    def type_of(self, type_: Type) -> Attribute:
        """The type of a value; quantized tensors have the type of their integers."""
        if not isinstance(type_, TensorType):
            return UNKNOWN
        element = type_.element.storage if isinstance(type_.element, Quantized) else type_.element
        return tensor(type_.shape, element)

    def value(self, value: Value, operation: Operation) -> SSAValue:
        """What stands for a value. Raises ModelFileError if it is not defined yet."""
        found = self.values.get(value)
        if found is None:
            raise self.builder.error("it uses a value that is not defined in front of it", operation.kind, operation.name)
        return found

    # Calls and operations

    def called(self, block: Block) -> tuple[list[SSAValue], list[Type]]:
        """Build the operations of a block whose arguments have values; returns what it returns."""
        self.builder.enter()
        for operation in block.operations:
            if operation.kind in ("return", "func.return", "sdy.return"):
                self.builder.leave()
                return [self.value(each, operation) for each in operation.operands], [each.type for each in operation.operands]
            self.operation(operation)
        raise self.builder.error("a block has no return")

    def operation(self, operation: Operation) -> None:
        """Build an operation, or what it stands for."""
        kind = operation.kind
        if kind in ("func.call", "call"):
            self._call(operation, str(operation.attributes.get("callee", "")))
        elif kind == "composite" and operation.attributes.get("name") not in KNOWN_COMPOSITES:
            self._call(operation, str(operation.attributes.get("decomposition", "")))
        elif kind == "constant":
            self._constant(operation)
        elif kind in _DROPPED_KINDS or (
            kind == "custom_call" and operation.attributes.get("call_target_name") in ("Sharding", "SPMDFullToShardShape")
        ):
            for result, operand in zip(operation.results, operation.operands, strict=False):
                self.values[result] = self.value(operand, operation)
        elif kind == "custom_call" and operation.attributes.get("call_target_name") == _SHAPE_ASSERTION:
            return
        elif any(_quantized(each.type) for each in (*operation.operands, *operation.results)):
            self._of_quantized(operation)
        else:
            self._node(operation, [self.value(each, operation) for each in operation.operands], [each.type for each in operation.results])

    def _call(self, operation: Operation, name: str) -> None:
        function = self.builder.function(name, operation)
        inner = Scope(self.builder, self.operations, {})
        inner.constants, inner.is_named = self.constants, self.is_named
        for argument, operand in zip(function.body.arguments, operation.operands, strict=True):
            inner.values[argument] = self.value(operand, operation)
        values, _ = inner.called(function.body)
        if len(values) != len(operation.results):
            raise self.builder.error(f"the function {name!r} returns {len(values)} values", operation.kind, operation.name)
        self.values.update(zip(operation.results, values, strict=True))

    def _constant(self, operation: Operation) -> None:
        value = operation.attributes.get("value")
        if not isinstance(value, Dense) or not operation.results or not isinstance(operation.results[0].type, TensorType):
            raise self.builder.error("a constant without elements", operation.kind, operation.name)
        declared = operation.results[0].type
        shape = declared.shape or ()
        array = value.values if value.values.shape == shape else np.broadcast_to(value.values, shape)
        element = declared.element.storage if isinstance(declared.element, Quantized) else declared.element
        self.values[operation.results[0]] = self.constant(array, "constant", element)

    def _node(
        self,
        operation: Operation,
        operands: Sequence[SSAValue],
        types: Sequence[Type],
        kind: str = "",
        further: Mapping[str, Any] | None = None,
    ) -> list[SSAValue]:
        """An operation of the dialect."""
        self.builder.count()
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
        """The values from around the regions of an operation that these use; constants are copied instead."""
        found: dict[Value, None] = {}
        for block in operation.regions:
            for each in free_values(block):
                value = self.values.get(each)
                if value is None:
                    raise self.builder.error("a region uses a value that is not defined in front of it", operation.kind, operation.name)
                if value not in self.constants:
                    found[each] = None
        return list(found)

    def _region(self, block: Block, captured: Sequence[Value], *, is_named: bool) -> Region:
        """A region; the operations of functions that are applied to elements have no names."""
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
        """An operation on quantized tensors: on the numbers that they stand for, and quantized again."""
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
        found = self.value(value, operation)
        return found if how is None else self._converted("uniform_dequantize", operation, found, how, _expressed(value.type))

    def _converted(self, kind: str, operation: Operation, value: SSAValue, how: Quantized, type_: Type) -> SSAValue:
        further: dict[str, Any] = {
            "scales": list(how.scales),
            "zero_points": list(how.zeros),
            "storage_min": how.lowest,
            "storage_max": how.highest,
            "element": how.storage if kind == "uniform_quantize" else how.expressed,
        }
        if how.axis is not None:
            further["axis"] = how.axis
        plain = Operation(kind, [], {}, [], [], operation.name)
        return self._node(plain, [value], [type_], kind, further)[0]


_MOVING = frozenset(("transpose", "reshape", "slice", "concatenate", "broadcast_in_dim", "reverse", "gather"))


def _quantized(type_: Type) -> Quantized | None:
    return type_.element if isinstance(type_, TensorType) and isinstance(type_.element, Quantized) else None


def _expressed(type_: Type) -> Type:
    how = _quantized(type_)
    return TensorType(cast(TensorType, type_).shape, how.expressed) if how is not None else type_


def _same(operation: Operation) -> bool:
    """Whether an operation only moves elements between tensors that are quantized alike, with one scale."""
    found = [how for each in (operation.operands[0], *operation.results) if (how := _quantized(each.type)) is not None]
    return len(found) == 1 + len(operation.results) and all(each == found[0] and each.axis is None for each in found)


def free_values(block: Block) -> list[Value]:
    """The values that a block and the regions in it use, and that are defined around it."""
    defined = set(block.arguments)
    found: dict[Value, None] = {}
    for operation in block.operations:
        for each in operation.operands:
            if each not in defined:
                found[each] = None
        for region in operation.regions:
            for each in free_values(region):
                if each not in defined:
                    found[each] = None
        defined.update(operation.results)
    return list(found)


def properties_of(attributes: Mapping[str, Any]) -> dict[str, Attribute]:
    """The properties of an operation: dimension numbers are properties of their own, lists are flat."""
    found: dict[str, Attribute] = {}
    for name, value in attributes.items():
        if name in _DROPPED or value is None:
            continue
        if isinstance(value, dict):
            found |= properties_of(cast("dict[str, Any]", value))
            continue
        plain = plain_value(value)
        if plain is not None:
            found[name] = attribute_of(plain)
    return found


def plain_value(value: Any) -> Any:
    """A value of an attribute without arrays and nested lists; None for one that says nothing."""
    if isinstance(value, Dense):
        array = value.values if value.values.shape == value.type.shape else np.broadcast_to(value.values, value.type.shape or ())
        return array.reshape(-1).tolist() if array.ndim else array.item()
    if isinstance(value, np.ndarray):
        return cast("Array", value).reshape(-1).tolist()
    if isinstance(value, list):
        items = cast("list[Any]", value)
        if any(isinstance(each, list) for each in items):
            return [inner for each in items for inner in cast("list[Any]", each)]
        if any(isinstance(each, dict) or each is None for each in items):
            return None
        return [str(each) if isinstance(each, str) else each for each in items]
    if isinstance(value, str):
        return str(value)
    return value if isinstance(value, int | float | bool | Attribute) else None
