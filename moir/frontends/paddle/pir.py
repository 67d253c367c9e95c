"""A PIR program -> the block of a model in the `paddle` dialect.

    %8 = "pd_op.mean"(%6, %7) {keepdim = false}
->  %y = paddle.reduce_mean(%x, %axes) {keep_dim = false, name = "mean_8"}

Operations have the kinds and attributes of programs (`moir.frontends.paddle.definitions`). A list of tensors in the
program becomes several values; building and unpacking lists costs no operations.

Source: PaddlePaddle 3.3, pd_op.h and control_flow_op.cc.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, cast

import numpy as np
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from moir.dialects import opset
from moir.dialects.data import DataAttr
from moir.dialects.frameworks.paddle import ELEMENTS
from moir.dialects.properties import attribute_of, string_attribute
from moir.dialects.shapes import UNKNOWN
from moir.errors import ModelFileError
from moir.frontends.numbers import shortest
from moir.frontends.operations import declared_type
from moir.frontends.paddle.definitions import definition_of_pir
from moir.frontends.paddle.elements import DATA_TYPES, TYPE_NAMES
from moir.frontends.paddle.operation import IGNORED, arranged, build, number_data
from moir.frontends.paddle.pir_file import PARAMETER, PirBlock, PirOperation, PirProgram
from moir.frontends.paddle.scope import Key, Scope, new_parameter

ARRAY_WRITE = "array_write_"
"""The kind that writes to an array of tensors in place."""
MAXIMUM_RESULTS = 10_000
"""Largest number of tensors in a list."""
MAXIMUM_ARGUMENTS = 1_000_000
"""Largest number of captured values of an operation, times the number of its regions."""


class PirBuilder:
    """Builds the block of a program.

    Args:
        program: the program.
        parameters: the values of its parameters, by name.
        path: its file, for messages.
    """

    def __init__(self, program: PirProgram, parameters: Mapping[str, DataAttr], path: Path) -> None:
        self._program = program
        self._parameters = parameters
        self._path = path
        self._constants: dict[Key, tuple[str, DataAttr]] = {}
        self._lists: dict[int, list[Key]] = {}
        """The keys of the tensors of each value that is a list."""
        self._fetched: list[tuple[int, str, SSAValue]] = []

    def block(self) -> Block:
        """The block of the model. Raises ModelFileError if the program is inconsistent or has no outputs."""
        scope = Scope(self._constants.get)
        operations = self._program.block.operations
        for each in operations:
            if each.dialect == "1" and each.kind == "data":
                self._input(each, scope)
        self._operations(operations, scope, is_outermost=True)
        if not self._fetched:
            raise ModelFileError("the program has no outputs", location=str(self._path), hint="save it for inference: paddle.jit.save")
        results: list[Operation] = []
        for _, name, value in sorted(self._fetched, key=lambda each: each[0]):
            attributes: dict[str, Attribute] = {"name": string_attribute(name)}
            results.append(opset.operation("opset1.Result").create(operands=[value], attributes=attributes))
        return Block([*scope.operations.list, *results])

    def _input(self, op: PirOperation, scope: Scope) -> None:
        name = op.attributes.get("name")
        if not isinstance(name, str) or len(op.results) != 1 or op.results[0].is_list:
            self._fail(op, "an input has a name and one tensor")
        (element, shape) = op.results[0].types[0]
        element_type = ELEMENTS.get(TYPE_NAMES.get(element, -1))
        if element_type is None:
            self._fail(op, f"the input {name!r} is of element type {element!r}, which the operation sets do not have")
        parameter = new_parameter(declared_type(shape, element_type, name), name)
        scope.operations.append(parameter)
        scope.set(op.results[0].number, parameter.results[0])

    # Values

    def _keys(self, id_: int) -> list[Key]:
        """The keys of the tensors of the value with id `id_`: of itself, or of the members of a list."""
        return self._lists.get(id_, [id_])

    def _values(self, id_: int, op: PirOperation, scope: Scope) -> list[SSAValue]:
        """The values of the tensors of an operand; none if `id_`, the id of the operand, is 0: it is absent.

        Raises ModelFileError if nothing has computed one of them.
        """
        if id_ == 0:
            return []
        tensors = [scope.find(key) for key in self._keys(id_)]
        if any(value is None for value in tensors):
            self._fail(op, f"the value {id_} is not known where it is used")
        return [value for value in tensors if value is not None]

    def _value(self, id_: int, op: PirOperation, scope: Scope) -> SSAValue:
        values = self._values(id_, op, scope)
        if len(values) != 1:
            self._fail(op, f"the value {id_} is {len(values)} tensors, not one")
        return values[0]

    # Operations

    def _operations(self, operations: Sequence[PirOperation], scope: Scope, *, is_outermost: bool = False) -> list[SSAValue]:
        """Build the operations of a block; returns the values that the block yields.

        Raises ModelFileError for an input of the model in any block but the outermost one.
        """
        yielded: list[SSAValue] = []
        for op in operations:
            match op.dialect, op.kind:
                case "0", _:
                    self._builtin(op)
                case "2", "yield":
                    yielded = [value for number in op.operands for value in self._values(number, op, scope)]
                case "1", "data":
                    if not is_outermost:
                        self._fail(op, "an input stands in a region")
                case "1", "fetch":
                    self._fetch(op, scope)
                case "1", "full_int_array":
                    self._full_int_array(op)
                case "1", "if":
                    self._if(op, scope)
                case "1", "while":
                    self._while(op, scope)
                case "1", "create_array":
                    self._create_array(op, scope)
                case _:
                    self._operation(op, scope)
        return yielded

    def _builtin(self, op: PirOperation) -> None:
        """Handle a builtin operation: store the value of a parameter, or the members of a list that is built, split or
        indexed.

        No operation is built. Raises ModelFileError for any other builtin operation with results.
        """
        if op.kind == PARAMETER:
            name = op.attributes["name"]
            if op.attributes["is_stored"]:
                self._constants[op.results[0].number] = (name, self._parameters[name])
        elif op.kind == "combine" and len(op.results) == 1:
            keys = [key for number in op.operands for key in self._keys(number)]
            if len(keys) > MAXIMUM_RESULTS:
                self._fail(op, f"a list of {len(keys)} tensors")
            self._lists[op.results[0].number] = keys
        elif op.kind in ("split", "slice") and len(op.operands) == 1:
            keys = self._keys(op.operands[0])
            if op.kind == "slice":
                index = op.attributes.get("index", 0)
                keys = keys[index : index + 1] if isinstance(index, int) and index >= 0 else []
            if len(keys) != len(op.results):
                self._fail(op, f"a list of {len(keys)} tensors where {len(op.results)} are taken")
            self._lists.update({result.number: [key] for result, key in zip(op.results, keys, strict=True)})
        elif op.kind == "constant" or op.results:
            self._fail(op, "it is not supported in models for inference", "save the model with paddle.jit.save")

    def _fetch(self, op: PirOperation, scope: Scope) -> None:
        name, column = op.attributes.get("name"), op.attributes.get("col")
        if not isinstance(name, str) or not isinstance(column, int) or len(op.operands) != 1:
            self._fail(op, "an output has a name, a column and one value")
        if scope.parent is not None:
            self._fail(op, "an output stands in a region")
        self._fetched.append((column, name, self._value(op.operands[0], op, scope)))

    def _full_int_array(self, op: PirOperation) -> None:
        """Store the 1-D tensor of integers that an operation has as attribute; it becomes a constant where it is
        used.
        """
        value: Any = op.attributes.get("value")
        if not isinstance(value, list) or not all(isinstance(each, int) for each in cast("list[Any]", value)) or len(op.results) != 1:
            self._fail(op, "its value is not a list of integers")
        data = number_data(value, op.kind)
        if op.attributes.get("dtype") == "int32":
            data = DataAttr.of(np.asarray(value, np.int64).astype(np.int32))
        self._constants[op.results[0].number] = ("", data)

    def _operation(self, op: PirOperation, scope: Scope) -> None:
        definition = definition_of_pir(op.kind) if op.dialect == "1" else None
        kind = definition.kind if definition is not None else op.kind if op.dialect == "1" else f"{op.dialect}.{op.kind}"
        attributes = self._attributes(op, {} if definition is None else definition.renamed)
        name = self._name(op)
        if op.regions:
            self._fail(op, "an operation of this kind with regions is not supported")
        if definition is None:
            operands = [value for number in op.operands for value in self._values(number, op, scope) or [scope.absent()]]
            properties: dict[str, Attribute] = {each: attribute_of(value) for each, value in attributes.items()}
        else:
            operands_of: dict[int, list[SSAValue]] = {}
            for number, index in zip(op.operands, definition.positions, strict=False):
                if index >= 0 and (values := self._values(number, op, scope)):
                    operands_of[index] = values
            if len(op.operands) > len(definition.positions):
                self._fail(op, f"it has {len(op.operands)} operands, its kind has at most {len(definition.positions)}")
            operands, properties = arranged(scope, definition, operands_of, attributes, name)
        built = build(scope, kind, operands, properties, name, self._result_names(op))
        self._set(op, built, scope)
        if op.kind == ARRAY_WRITE and op.operands:
            # The write changes the array itself, so all values that stand for it are updated.
            for key in self._keys(op.operands[0]):
                if scope.own(key) is None:
                    self._fail(op, "an array is written in a branch, which is not supported", "write it after the branch")
                scope.set(key, built.results[0])

    def _create_array(self, op: PirOperation, scope: Scope) -> None:
        """Build paddle.create_array, an empty array of tensors, of the shape in the type of the result."""
        if len(op.results) != 1 or op.results[0].is_list:
            self._fail(op, "it has one result, which is an array")
        element, shape = op.results[0].types[0]
        properties = {"shape": attribute_of(shape), "dtype": attribute_of(TYPE_NAMES.get(element, -1))}
        self._set(op, build(scope, "create_array", [], properties, self._name(op), self._result_names(op)), scope)

    def _written_arrays(self, block: PirBlock) -> list[Key]:
        """The arrays defined outside of a block that the block, or one nested in it, writes."""
        own = {result.number for op in block.operations for result in op.results}
        arrays: dict[Key, None] = {}
        for op in block.operations:
            written = [op.operands[0]] if op.kind == ARRAY_WRITE and op.operands else []
            inner = [key for region in op.regions for key in self._written_arrays(region)]
            arrays.update(dict.fromkeys(key for key in (*written, *inner) if key not in own))
        return list(arrays)

    def _result_names(self, op: PirOperation) -> list[list[str]]:
        """The names of the results, made from their kind and number, since PIR has no names."""
        names = [
            [f"{op.kind}_{result.number}" if not result.is_list else f"{op.kind}_{result.number}.{index}"]
            for result in op.results
            for index in range(len(result.types))
        ]
        if len(names) > MAXIMUM_RESULTS:
            self._fail(op, f"it has {len(names)} results")
        return names

    def _set(self, op: PirOperation, built: Operation, scope: Scope) -> None:
        """Bind the ids of an operation's results to the results of `built`, the operation of the `paddle` dialect for
        it.
        """
        offset = 0
        for result in op.results:
            if result.is_list:
                keys: list[Key] = [(result.number, index) for index in range(len(result.types))]
                self._lists[result.number] = keys
            else:
                keys = [result.number]
            for key in keys:
                scope.set(key, built.results[offset])
                offset += 1

    def _attributes(self, op: PirOperation, renamed: Mapping[str, str]) -> dict[str, Any]:
        """The attributes with the names and in the forms of programs, without those that do not affect the results."""
        attributes: dict[str, Any] = {}
        for name, value in op.attributes.items():
            if value is None or name in IGNORED or not name:
                continue
            if isinstance(value, str) and name.endswith("dtype"):
                if value not in DATA_TYPES:
                    self._fail(op, f"the element type {value!r} does not exist in the operation sets")
                value = DATA_TYPES[value]
            elif isinstance(value, list) and any(each is None or isinstance(each, list) for each in cast("list[Any]", value)):
                self._fail(op, f"the attribute {name} is of an unknown form")
            elif isinstance(value, float) and name not in ("value", "y", "min", "max"):
                value = shortest(value)
            attributes[renamed.get(name, name)] = value
        return attributes

    def _name(self, op: PirOperation) -> str:
        """The name of an operation: the path of its layer, its kind, and the id of its first result."""
        path = op.attributes.get("struct_name")
        number = f"_{op.results[0].number}" if op.results else ""
        return f"{path.strip('/')}/{op.kind}{number}" if isinstance(path, str) and path.strip("/") else f"{op.kind}{number}"

    # Control flow

    def _if(self, op: PirOperation, scope: Scope) -> None:
        """A conditional -> paddle.if(condition, captured…); both regions have a Parameter for each captured value."""
        if len(op.operands) != 1 or len(op.regions) != 2:
            self._fail(op, f"it has {len(op.operands)} operands and {len(op.regions)} regions, not 1 and 2")
        condition = self._value(op.operands[0], op, scope)
        inner = [Scope(self._constants.get, scope) for _ in op.regions]
        results = [self._operations(block.operations, each) for block, each in zip(op.regions, inner, strict=True)]
        keys = list(dict.fromkeys(key for each in inner for key in each.captured))
        if len(keys) * 2 > MAXIMUM_ARGUMENTS:
            self._fail(op, f"its regions use {len(keys)} values")
        names = self._result_names(op)
        if any(len(each) != len(names) for each in results):
            self._fail(op, f"its branches give {[len(each) for each in results]} values for {len(names)} results")
        regions = [Region(each.body(keys, values)) for each, values in zip(inner, results, strict=True)]
        captured = [value for key in keys if (value := scope.find(key)) is not None]
        self._set(op, build(scope, "if", [condition, *captured], {}, self._name(op), names, regions), scope)

    def _while(self, op: PirOperation, scope: Scope) -> None:
        """A loop -> paddle.while(condition, carried…, captured…), whose region gives the next condition and values."""
        if not op.operands or len(op.regions) != 1:
            self._fail(op, f"it has {len(op.operands)} operands and {len(op.regions)} regions")
        condition = self._value(op.operands[0], op, scope)
        carried = [self._value(number, op, scope) for number in op.operands[1:]]
        block: PirBlock = op.regions[0]
        names = self._result_names(op)
        if len(block.arguments) != len(carried) or len(names) != len(carried):
            self._fail(op, f"it carries {len(carried)} values, for {len(block.arguments)} arguments and {len(names)} results")
        arrays = [key for key in self._written_arrays(block) if scope.find(key) is not None]
        inner = Scope(self._constants.get, scope)
        parameters = [inner.add_parameter(number, value.type) for number, value in zip(block.arguments, carried, strict=True)]
        parameters += [inner.add_parameter(key, UNKNOWN) for key in arrays]
        results = self._operations(block.operations, inner)
        if len(results) != len(carried) + 1:
            self._fail(op, f"its region gives {len(results)} values, not {len(carried) + 1}")
        keys = list(inner.captured)
        results += [value for key in arrays if (value := inner.own(key)) is not None]
        region = Region(inner.body(keys, results, parameters))
        captured = [value for key in keys if (value := scope.find(key)) is not None]
        initial = [*carried, *(value for key in arrays if (value := scope.find(key)) is not None)]
        properties = {"carried": attribute_of(len(initial))}
        names += [[] for _ in arrays]
        built = build(scope, "while", [condition, *initial, *captured], properties, self._name(op), names, [region])
        self._set(op, built, scope)
        for key, value in zip(arrays, built.results[len(carried) :], strict=True):
            scope.set(key, value)

    def _fail(self, op: PirOperation, reason: str, hint: str = "the file is damaged, or of a newer PaddlePaddle") -> NoReturn:
        raise ModelFileError(reason, operation=f"paddle.{op.kind}", node=self._name(op), location=str(self._path), hint=hint)
