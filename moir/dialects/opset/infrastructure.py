"""Infrastructure operations: Parameter, Constant, Result, Identity, variables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def

from moir.dialects import element_types
from moir.dialects.data import Array, DataAttr
from moir.dialects.moir import ModelOp
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.operation import OpsetOp, Types
from moir.dialects.opset.interfaces.properties import (
    PropertyKind,
    deferred_definition,
    element_property,
    optional_operands,
    string_property,
)
from moir.dialects.properties import value_of
from moir.dialects.shapes import Shape, Shapes, SymbolicShape, format_shape, join_shapes, merge_elements, tensor
from moir.dialects.symbols import Symbol, is_symbolic
from moir.errors import InferenceError


@deferred_definition
class Parameter(OpsetOp):
    """An input of the model or of a body, whose type is the result type.

    `bounds` limits dynamic dimensions, as in `1..10,3,?`.
    """

    name = "opset1.Parameter"
    bounds = opt_prop_def(PropertyKind("str"))
    result = result_def()

    EFFECTS: ClassVar[bool] = True

    def infer(self, known: OperandValues) -> Types:
        return (self.results[0].type,)

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        # Dimension names apply to inputs of the model only: in a body, a name may denote another dimension.
        names = self.attributes.get("dimension_names") if isinstance(self.parent_op(), ModelOp) else None
        return None if names is None else tuple([known.named(name) if name else -1 for name in value_of(names)])


@deferred_definition
class Constant(OpsetOp):
    """A constant tensor. The result type has the shape and element type of the value."""

    name = "opset1.Constant"
    XML_TYPE: ClassVar[str] = "Const"
    value = prop_def(DataAttr)
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        return self.value.shape

    def result_element(self) -> Attribute:
        return self.value.element


@deferred_definition
class Result(OpsetOp):
    """An output of the model or of a body."""

    name = "opset1.Result"
    data = operand_def()

    EFFECTS: ClassVar[bool] = True

    def result_shapes(self, shapes: Shapes, known: OperandValues) -> Shapes:
        return ()

    def result_elements(self) -> Sequence[Attribute]:
        return ()


def converted(data: Array, source: Attribute, destination: Attribute) -> Sequence[Array] | None:
    """Values converted to another element type, as the only result; None if either type is packed, of strings or
    unknown.
    """
    to, of = element_types.describe(destination), element_types.describe(source)
    if to.is_packed or of.is_packed or to.bits == 0 or (of.bits == 0 and not is_symbolic(data)):
        return None
    if not is_symbolic(data):
        return (data.astype(to.numpy),)
    if destination in element_types.REAL_TYPES:
        return (_symbolic_conversion(data, float, True),)
    if destination == element_types.boolean:
        return (_symbolic_conversion(data, bool, False),)
    # A symbol is a 64-bit integer: it is kept unless the source type is a float or the symbol may not fit.
    return (_symbolic_conversion(data, int, source not in element_types.REAL_TYPES and to.bits >= 32),)


def _symbolic_conversion(data: Array, number: type, keeps_symbols: bool) -> Array:
    def convert(entry: object) -> object:
        if isinstance(entry, Symbol):
            return entry if keeps_symbols else Symbol(entry.dimension)
        return number(entry)

    return np.asarray(np.frompyfunc(convert, 1, 1)(data), dtype=object)


@deferred_definition
class Identity(OpsetOp):
    """Returns its operand."""

    name = "opset16.Identity"
    POINTWISE: ClassVar[bool] = True
    data = operand_def()
    result = result_def()

    SYMBOLIC: ClassVar[bool] = True

    def gives_back_operand(self, known: OperandValues) -> bool:
        return True

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        return shapes[0]

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        return operands


class VariableOp(OpsetOp):
    """Base of the operations on variables, which persist between runs."""

    EFFECTS: ClassVar[bool] = True
    DETERMINISTIC: ClassVar[bool] = False

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        return shapes[0]


@deferred_definition
class ReadValue3(VariableOp):
    """The value of a variable, whose initial value and type are those of the operand."""

    name = "opset3.ReadValue"
    initial = operand_def()
    variable_id = string_property()
    result = result_def()


@deferred_definition
class Assign3(VariableOp):
    """Assigns the operand to a variable, and returns it."""

    name = "opset3.Assign"
    new_value = operand_def()
    variable_id = string_property()
    result = result_def()


@deferred_definition
class ReadValue(VariableOp):
    """The value of a variable that persists between runs; its initial value is the operand, or zeros.

    `variable_shape` is spelled as in the IR: `2,3`, `?,3`, `1..8,3`, `...`.
    """

    name = "opset6.ReadValue"
    initial = optional_operands(1)
    variable_id = string_property()
    variable_type = element_property()
    variable_shape = string_property()
    result = result_def()

    UNWRITTEN: ClassVar[Mapping[str, object]] = {"variable_type": element_types.dynamic, "variable_shape": "..."}

    def infer(self, known: OperandValues) -> Types:
        shape = parse_shape(self.text("variable_shape"))
        if self.operands and shape is not None and join_shapes(shape, initial := self.shape(0)) != shape:
            raise InferenceError(f"the initial value has shape {format_shape(initial)}, the variable {self.text('variable_shape')!r}")
        return (tensor(shape, self.result_element()),)

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        return parse_shape(self.text("variable_shape"))

    def result_element(self) -> Attribute:
        element = self.element("variable_type")
        if self.operands and element != element_types.dynamic:
            merge_elements(element, self.element_type(0))
        return element


@deferred_definition
class Assign(VariableOp):
    """Assigns the operand to a variable, and returns it."""

    name = "opset6.Assign"
    new_value = operand_def()
    variable_id = string_property()
    result = result_def()


def parse_shape(text: str) -> Shape:
    """A shape parsed from its spelling in the IR; a dimension with bounds is unknown.

    Raises InferenceError if the text is malformed.
    """
    dimensions = [item.strip() for item in text.strip().strip("[]").split(",")]
    if dimensions == ["..."]:
        return None
    if dimensions == [""]:
        return ()
    if not all(re.fullmatch(r"\?|-1|\d{1,18}|\d{0,18}\.\.\d{0,18}", item) for item in dimensions):
        raise InferenceError(f"{text!r} is not a shape")
    return tuple(int(item) if item.isdecimal() else -1 for item in dimensions)
