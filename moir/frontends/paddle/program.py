"""A program (ProgramDesc) -> the block of a model in the `paddle` dialect.

    conv2d {strides = [1, 1]} (Input: image, Filter: w) -> (Output: conv2d_0.tmp_0)
->  %y = paddle.conv2d(%image, %w) {strides = [1, 1], name = "conv2d_0.tmp_0"}

The variables of a program may be written several times, and by inner blocks: here every write is a new value. An inner
block becomes a region, whose Results are the variables of outer blocks that it writes.

Source: framework.proto, while_op.cc, conditional_block_op.cc and select_input_op.cc of PaddlePaddle 2.6.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from moir.dialects import opset
from moir.dialects.data import DataAttr
from moir.dialects.frameworks.paddle import ELEMENTS
from moir.dialects.names import names_of, set_names
from moir.dialects.properties import attribute_of, string_attribute
from moir.errors import ModelFileError
from moir.frontends.numbers import shortest
from moir.frontends.operations import declared_type
from moir.frontends.paddle.definitions import Definition, definition_of
from moir.frontends.paddle.elements import TENSOR, TENSOR_ARRAY
from moir.frontends.paddle.messages import ATTRIBUTE_FIELDS
from moir.frontends.paddle.operation import IGNORED, arranged, build
from moir.frontends.paddle.scope import Key, Scope, new_parameter

EMPTY = "@EMPTY@"
"""The name of a variable that is absent."""

UNREAD = frozenset(
    (
        *("batch_norm.MomentumTensor", "sync_batch_norm.MomentumTensor", "fake_quantize_range_abs_max.Iter", "lod_reset.Y"),
        *("moving_average_abs_max_scale.InAccum", "moving_average_abs_max_scale.InState", "read_from_array.X_W"),
    )
)
"""The inputs of operations that do not affect their results in inference, each with the kind of its operation."""


class VariableNames(tuple[str, ...]):
    """The names of the variables that give the value of an attribute, instead of a number or numbers in the program."""

    __slots__ = ()


class ProgramBuilder:
    """Builds the block of a program.

    Args:
        program: the message.
        parameters: the values of its parameters, by name.
        path: its file, for messages.
    """

    def __init__(self, program: Any, parameters: Mapping[str, DataAttr], path: Path) -> None:
        self._blocks: list[Any] = list(program.blocks)
        self._parameters = parameters
        self._path = path
        self._variables = {variable.name: variable for block in self._blocks for variable in block.vars}
        self._written: dict[int, tuple[str, ...]] = {}
        self._pending: set[int] = set()

    def block(self) -> Block:
        """The block of the model. Raises ModelFileError if the program is inconsistent or has no outputs."""
        scope = Scope(self._constant)
        root = self._blocks[0]
        for desc in sorted((each for each in root.ops if each.type == "feed"), key=lambda each: _integer(each, "col")):
            name = self._only(desc, desc.outputs, "Out")
            parameter = new_parameter(self._input_type(name), name)
            scope.operations.append(parameter)
            scope.set(name, parameter.results[0])
        self._operations(root, scope)
        results: list[Operation] = []
        for desc in sorted((each for each in root.ops if each.type == "fetch"), key=lambda each: _integer(each, "col")):
            name = self._only(desc, desc.inputs, "X")
            value = self._value(name, desc, scope)
            results.append(opset.operation("opset1.Result").create(operands=[value], attributes={"name": string_attribute(name)}))
        if not results:
            hint = "save it for inference: paddle.jit.save, or paddle.static.save_inference_model"
            raise ModelFileError("the program has no fetch operations, so that it has no outputs", location=str(self._path), hint=hint)
        return Block([*scope.operations.list, *results])

    # Variables

    def _constant(self, key: Key) -> tuple[str, DataAttr] | None:
        data = self._parameters.get(key) if isinstance(key, str) else None
        return None if data is None else (str(key), data)

    def _input_type(self, name: str) -> Attribute:
        variable = self._variables.get(name)
        if variable is None or variable.type.type != TENSOR:
            raise ModelFileError(f"the input {name!r} is not a tensor that the program declares", location=str(self._path))
        description = variable.type.lod_tensor.tensor
        element = ELEMENTS.get(description.data_type)
        if element is None:
            reason = f"the input {name!r} is of element type {description.data_type}, which the operation sets do not have"
            raise ModelFileError(reason, location=str(self._path))
        return declared_type([max(size, -1) for size in description.dims], element, name)

    def _value(self, name: str, desc: Any, scope: Scope) -> SSAValue:
        value = scope.find(name)
        if value is None:
            value = self._empty_array(name, scope)
        if value is None:
            raise self._error(desc, f"the variable {name!r} has no value where it is read")
        return value

    def _empty_array(self, name: str, scope: Scope) -> SSAValue | None:
        """A new empty array of tensors if a variable is an array without a value so far; else None."""
        variable = self._variables.get(name)
        if variable is None or variable.type.type != TENSOR_ARRAY:
            return None
        element = variable.type.tensor_array.tensor
        properties = {"shape": attribute_of(list(element.dims)), "dtype": attribute_of(element.data_type)}
        value = build(scope, "create_array", [], properties, name, [[]]).results[0]
        self._set(name, value, scope)
        return value

    def _only(self, desc: Any, variables: Any, parameter: str) -> str:
        """The name of the one variable of an operand or result `parameter`. Raises ModelFileError if there is not just
        one.
        """
        names = [name for each in variables if each.parameter == parameter for name in each.arguments]
        if len(names) != 1:
            raise self._error(desc, f"{parameter} is {len(names)} variables, not one")
        return names[0]

    def _set(self, name: str, value: SSAValue, scope: Scope) -> None:
        """Assign a value to a variable. The tensor that it had before loses the name, unless it is an input."""
        before = scope.own(name)
        if before is not None:
            is_input = isinstance(before.owner, Operation) and before.owner.name.startswith("opset1.")
            renamed = value if is_input else before
            set_names(renamed, [each for each in names_of(renamed) if each != name])
        scope.set(name, value)

    # Operations

    def _operations(self, block: Any, scope: Scope) -> None:
        for desc in block.ops:
            if desc.type == "while":
                self._while(desc, scope)
            elif desc.type in ("conditional_block", "conditional_block_infer"):
                self._conditional_block(desc, scope)
            elif desc.type not in ("feed", "fetch"):
                self._operation(desc, scope)

    def _operation(self, desc: Any, scope: Scope) -> None:
        definition = definition_of(desc.type)
        attributes = self._attributes(desc)
        inputs = {each.parameter: [name for name in each.arguments if name != EMPTY] for each in desc.inputs}
        outputs = [(each.parameter, list(each.arguments)) for each in desc.outputs]
        order = {parameter: index for index, parameter in enumerate(() if definition is None else definition.results)}
        outputs.sort(key=lambda each: order.get(each[0], len(order)))
        name = next((each for _, names in outputs for each in names if each != EMPTY), desc.type)
        if definition is None:
            self._check_attributes(desc, attributes)
            operands = [self._value(each, desc, scope) for names in inputs.values() for each in names]
            properties: dict[str, Attribute] = {each: attribute_of(value) for each, value in attributes.items()}
        else:
            self._check_inputs(desc, {each for each, names in inputs.items() if names}, definition)
            operands_of: dict[int, list[SSAValue]] = {}
            for index, part in enumerate(definition.operands):
                if part.attribute and isinstance(variables := attributes.get(part.attribute), VariableNames):
                    operands_of[index] = [self._value(each, desc, scope) for each in variables]
                    del attributes[part.attribute]
                    continue
                if (desc.type, part.name) == ("write_to_array", "Array"):
                    # A program changes an array in place: the result is the operand.
                    operands_of[index] = [self._value(self._only(desc, desc.outputs, "Out"), desc, scope)]
                    continue
                names = inputs.get(part.name, []) or (inputs.get(part.joined, []) if part.joined else [])
                if len(names) > 1 and not part.is_list and names is not inputs.get(part.joined):
                    raise self._error(desc, f"{part.name} is {len(names)} variables, not one")
                if names:
                    operands_of[index] = [self._value(each, desc, scope) for each in names]
            self._check_attributes(desc, attributes)
            operands, properties = arranged(scope, definition, operands_of, attributes, name)
        results = [each for _, names in outputs for each in names]
        op = build(scope, desc.type, operands, properties, name, [[each] if each != EMPTY else [] for each in results])
        for each, value in zip(results, op.results, strict=True):
            self._set(each, value, scope)

    def _check_inputs(self, desc: Any, arguments: set[str], definition: Definition) -> None:
        """Raises ModelFileError if an operation has inputs that its definition does not have."""
        names = {name for part in definition.operands for name in (part.name, part.joined)}
        if unknown := sorted(name for name in arguments - names if f"{desc.type}.{name}" not in UNREAD):
            reason = f"its input{'s' * (len(unknown) > 1)} {', '.join(unknown)} {'are' if len(unknown) > 1 else 'is'} unknown"
            hint = "moir would compute something else without; save the model with another version of PaddlePaddle"
            raise ModelFileError(reason, operation=f"paddle.{desc.type}", node=self._name(desc), location=str(self._path), hint=hint)

    def _check_attributes(self, desc: Any, attributes: Mapping[str, Any]) -> None:
        """Raises ModelFileError if an attribute that is not an operand is a variable."""
        for name, value in attributes.items():
            if isinstance(value, VariableNames):
                raise self._error(desc, f"its attribute {name!r} is the variable {', '.join(value)}, not a value")

    def _name(self, desc: Any) -> str:
        """The name of an operation: that of its first result, because a program has no names of operations."""
        return next((name for each in desc.outputs for name in each.arguments if name != EMPTY), desc.type)

    def _attributes(self, desc: Any) -> dict[str, Any]:
        """The attributes as Python values, without blocks and without those that do not affect the results."""
        attributes: dict[str, Any] = {}
        for attribute in desc.attrs:
            field = ATTRIBUTE_FIELDS.get(attribute.type)
            if field is None:
                raise self._error(desc, f"the attribute {attribute.name!r} is of the unknown type {attribute.type}")
            if attribute.name in IGNORED or field in ("block_idx", "blocks_idx") or not attribute.name:
                continue
            value = getattr(attribute, field)
            if field == "f":
                value = shortest(value)
            elif field == "floats":
                value = [shortest(each) for each in value]
            elif field == "scalar":
                value = _scalar(value)
            elif field == "scalars":
                value = [_scalar(each) for each in value]
            elif field in ("var_name", "vars_name"):
                value = VariableNames([value] if field == "var_name" else value)
            elif not isinstance(value, bool | int | float | str | bytes | VariableNames):
                value = list(value)
            if isinstance(value, bytes) or (isinstance(value, list) and any(isinstance(each, bytes) for each in value)):
                raise self._error(desc, f"the attribute {attribute.name!r} is not in UTF-8")
            attributes[attribute.name] = value if value != [] else ArrayAttr([]) if field == "strings" else value
        return attributes

    # Control flow

    def _inner(self, desc: Any) -> Any:
        """The block of an operation. Raises ModelFileError if it has none, or one that contains itself."""
        numbers = [attribute.block_idx for attribute in desc.attrs if attribute.name == "sub_block"]
        if len(numbers) != 1 or not 0 < numbers[0] < len(self._blocks):
            raise self._error(desc, "it has no block of operations")
        if numbers[0] in self._pending:
            raise self._error(desc, f"block {numbers[0]} stands in itself")
        return self._blocks[numbers[0]]

    def _writes(self, block: Any) -> tuple[str, ...]:
        """The variables of blocks around it that a block writes, in the order of their first write."""
        if block.idx not in self._written:
            names: dict[str, None] = {}
            self._pending.add(block.idx)
            for desc in block.ops:
                names.update(dict.fromkeys(name for each in desc.outputs for name in each.arguments))
                if any(attribute.name == "sub_block" for attribute in desc.attrs):
                    names.update(dict.fromkeys(self._writes(self._inner(desc))))
            self._pending.discard(block.idx)
            own = {variable.name for variable in block.vars}
            self._written[block.idx] = tuple(name for name in names if name not in own and name != EMPTY)
        return self._written[block.idx]

    def _while(self, desc: Any, scope: Scope) -> None:
        """A loop -> paddle.while(condition, carried…, captured…), whose region gives the next condition and values."""
        block, condition = self._inner(desc), self._only(desc, desc.inputs, "Condition")
        start = self._value(condition, desc, scope)
        carried = [name for name in self._writes(block) if scope.find(name) is not None or self._empty_array(name, scope) is not None]
        inner = Scope(self._constant, scope)
        initial = [self._value(name, desc, scope) for name in carried]
        parameters = [inner.add_parameter(name, value.type) for name, value in zip(carried, initial, strict=True)]
        self._operations(block, inner)
        results = [self._value(name, desc, inner) for name in (condition, *carried)]
        region = Region(inner.body(list(inner.captured), results, parameters))
        captured = [self._value(str(name), desc, scope) for name in inner.captured]
        properties = {"carried": attribute_of(len(carried))}
        op = build(scope, "while", [start, *initial, *captured], properties, carried[0], [[name] for name in carried], [region])
        for name, value in zip(carried, op.results, strict=True):
            self._set(name, value, scope)

    def _conditional_block(self, desc: Any, scope: Scope) -> None:
        """A branch -> paddle.conditional_block(condition, earlier values…, captured…), whose region gives the new ones.

        A variable that has no value before the branch has none either if the branch is not taken.
        """
        block, condition = self._inner(desc), self._value(self._only(desc, desc.inputs, "Cond"), desc, scope)
        written = self._writes(block)
        inner = Scope(self._constant, scope)
        self._operations(block, inner)
        results = [self._value(name, desc, inner) for name in written]
        earlier = [value if (value := scope.find(name)) is not None else scope.absent() for name in written]
        region = Region(inner.body(list(inner.captured), results))
        captured = [self._value(str(name), desc, scope) for name in inner.captured]
        properties = {"earlier": attribute_of(len(earlier))}
        name = written[0] if written else desc.type
        op = build(scope, "conditional_block", [condition, *earlier, *captured], properties, name, [[each] for each in written], [region])
        for each, value in zip(written, op.results, strict=True):
            self._set(each, value, scope)

    def _error(self, desc: Any, reason: str) -> ModelFileError:
        hint = "the file is damaged, or was changed by hand"
        return ModelFileError(reason, operation=f"paddle.{desc.type}", node=self._name(desc), location=str(self._path), hint=hint)


def _integer(desc: Any, name: str) -> int:
    """An integer attribute; 0 if it is absent."""
    return next((attribute.i for attribute in desc.attrs if attribute.name == name), 0)


def _scalar(scalar: Any) -> bool | int | float:
    """The value of a Scalar: a boolean (type 1), an integer (2) or a float."""
    return scalar.b if scalar.type == 1 else scalar.i if scalar.type == 2 else scalar.r
