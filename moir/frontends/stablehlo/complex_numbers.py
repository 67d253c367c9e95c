"""Rewriting a program so that each complex value becomes two real values, its real and imaginary part.

    %2 = add %0, %1 : tensor<3xcomplex<f32>>
->  %2.real = add %0.real, %1.real : tensor<3xf32>;  %2.imaginary = add %0.imaginary, %1.imaginary : tensor<3xf32>

Operations that move or add numbers are applied to each part, a product is four products, calls and regions take and
return both parts. Any other function is an operation `complex.FUNCTION` on the parts, which has a lowering of its own.
An input or result of the model is a real tensor with a last dimension of 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ComplexType

from moir.dialects.data import Array
from moir.dialects.element_types import boolean
from moir.frontends.stablehlo.devices import APPLIED_REGIONS, GROUPED, IDENTITIES
from moir.frontends.stablehlo.program import Block, Dense, Function, Operation, Program, TensorType, Type, Value

BY_PARTS = frozenset(
    (
        *("add", "broadcast_in_dim", "concatenate", "dynamic_broadcast_in_dim", "dynamic_gather", "dynamic_pad", "dynamic_reshape"),
        *("dynamic_slice", "dynamic_update_slice", "gather", "negate", "pad", "real_dynamic_slice", "reshape", "reverse", "select"),
        *("slice", "subtract", "transpose"),
    )
)
"""Operations that are applied to each part; real operands are the same for both parts."""

BILINEAR = frozenset(("convolution", "dot", "dot_general", "multiply"))
"""Products of two operands."""

STRUCTURAL = frozenset(
    (
        *("call", "case", "func.call", "func.return", "if", "optimization_barrier", "reduce", "reduce_window", "return", "scatter"),
        *("sort", "while", *APPLIED_REGIONS, *GROUPED, *IDENTITIES),
    )
)
"""Operations that take and return real and imaginary parts as separate values."""

EXTREMES = {"maximum": "GE", "minimum": "LE"}
"""Operations that select one of two numbers -> the comparison for which they select the first one."""

REAL, IMAGINARY = 0, 1


def in_parts(program: Program, main: Function) -> Program:
    """The program without complex numbers; the program itself if it has none."""
    if not any(_has_complex(function.body) for function in program.functions.values()):
        return program
    writer = PartsWriter(main)
    return Program(program.name, {name: writer.function(function) for name, function in program.functions.items()})


def _has_complex(block: Block) -> bool:
    if any(_part_type(each.type) for each in block.arguments):
        return True
    return any(
        any(_part_type(each.type) for each in operation.results) or any(_has_complex(region) for region in operation.regions)
        for operation in block.operations
    )


def _part_type(type_: Type) -> TensorType | None:
    """The type of each part of a complex tensor; None for any other type."""
    if not isinstance(type_, TensorType) or not isinstance(cast("Any", type_.element), ComplexType):
        return None
    return TensorType(type_.shape, cast("ComplexType[Any]", type_.element).element_type)


class PartsWriter:
    """Writes the blocks of a program without complex numbers.

    Args:
        main: the function that is the model; the number of its arguments and of its results does not change.
    """

    def __init__(self, main: Function) -> None:
        self._main = main
        self._parts: dict[Value, tuple[Value, Value]] = {}
        self._same: dict[Value, Value] = {}

    def function(self, function: Function) -> Function:
        """A function, with complex numbers replaced by pairs of real tensors."""
        body = self._block(function.body, is_main=function is self._main)
        return Function(function.name, body, function.argument_attributes, function.result_attributes, function.is_public)

    def _block(self, block: Block, *, is_main: bool = False) -> Block:
        written = Block([])
        for argument in block.arguments:
            part = _part_type(argument.type)
            if part is None:
                written.arguments.append(argument)
            elif is_main:
                pairs = Value(TensorType(None if part.shape is None else (*part.shape, 2), part.element), argument.name)
                written.arguments.append(pairs)
                self._append(written, "complex.separate", [pairs], argument)
            else:
                both = (Value(part, argument.name), Value(part, argument.name))
                self._parts[argument] = both
                written.arguments += both
        for operation in block.operations:
            if is_main and operation.kind in ("return", "func.return"):
                operands = [self._pairs(written, each) for each in operation.operands]
                written.operations.append(Operation(operation.kind, operands, operation.attributes))
            else:
                self._operation(written, operation)
        return written

    def _pairs(self, written: Block, value: Value) -> Value:
        part = _part_type(value.type)
        if part is None:
            return self._same.get(value, value)
        pairs = Value(TensorType(None if part.shape is None else (*part.shape, 2), part.element))
        written.operations.append(Operation("complex.join", [*self._parts[value]], {}, [], [pairs]))
        return pairs

    def _flat(self, values: Sequence[Value]) -> Iterator[Value]:
        for value in values:
            if value in self._parts:
                yield from self._parts[value]
            else:
                yield self._same.get(value, value)

    def _results(self, values: Sequence[Value]) -> list[Value]:
        """New values for the results of an operation: two for each complex one, which become its parts."""
        replacements: list[Value] = []
        for value in values:
            part = _part_type(value.type)
            if part is None:
                replacements.append(value)
            else:
                self._parts[value] = (Value(part, value.name), Value(part, value.name))
                replacements += self._parts[value]
        return replacements

    def _append(self, written: Block, kind: str, operands: list[Value], result: Value, like: Operation | None = None) -> None:
        """Append an operation `kind` to `written`. Its result stands for `result`, a value of the original program; a
        complex `result` gets two results, its parts.

        `like` is the operation whose attributes and name it gets; None for none.
        """
        attributes, name = ({}, "") if like is None else (like.attributes, like.name)
        written.operations.append(Operation(kind, operands, dict(attributes), [], self._results([result]), name))

    def _new(self, written: Block, kind: str, operands: list[Value], type_: Type, like: Operation | None = None) -> Value:
        """Append an operation `kind` with one real result of a type to a block; returns the result.

        `like` is the operation whose attributes and name it gets; None for none.
        """
        value = Value(type_)
        attributes, name = ({}, "") if like is None else (like.attributes, like.name)
        written.operations.append(Operation(kind, operands, dict(attributes), [], [value], name))
        return value

    def _operation(self, written: Block, operation: Operation) -> None:
        kind, operands = operation.kind, operation.operands
        is_complex = any(_part_type(each.type) for each in (*operands, *operation.results))
        if not is_complex or kind in STRUCTURAL:
            regions = [self._block(region) for region in operation.regions]
            if kind == "sort":
                regions[0].arguments[:] = self._interleaved(operation.regions[0].arguments)
            results = self._results(operation.results)
            written.operations.append(Operation(kind, [*self._flat(operands)], operation.attributes, regions, results, operation.name))
        elif kind == "composite":
            call = Operation("func.call", [*operands], {"callee": operation.attributes.get("decomposition")}, [], operation.results)
            self._operation(written, call)
        elif kind == "constant":
            self._constant(written, operation)
        elif kind in ("real", "imag"):
            self._same[operation.results[0]] = self._parts[operands[0]][kind == "imag"]
        elif kind == "complex":
            real, imaginary = self._flat(operands)
            self._parts[operation.results[0]] = (real, imaginary)
        elif kind == "convert":
            self._converted(written, operation)
        elif kind == "compare":
            (result,) = operation.results
            self._same[result] = self._compare(written, operation, str(operation.attributes.get("comparison_direction")), result.type)
        elif kind in EXTREMES:
            self._extreme(written, operation, EXTREMES[kind])
        elif kind in BILINEAR:
            self._product(written, operation)
        elif kind in BY_PARTS:
            result = operation.results[0]
            parts = [
                self._new(written, kind, self._of_part(operands, index), _part_type(result.type) or result.type, operation)
                for index in (REAL, IMAGINARY)
            ]
            self._parts[result] = (parts[0], parts[1])
        elif kind in ("iota", "dynamic_iota"):
            type_ = _part_type(operation.results[0].type)
            assert type_ is not None
            real = self._new(written, kind, [*self._flat(operands)], type_, operation)
            self._parts[operation.results[0]] = (real, self._new(written, "complex.zero", [real], type_))
        elif kind == "get_dimension_size":
            self._append(written, kind, self._of_part(operands, REAL), operation.results[0], operation)
        else:
            self._append_function(written, operation)

    def _interleaved(self, arguments: Sequence[Value]) -> list[Value]:
        """The arguments of a comparator with complex ones as parts: the pair (x, y) becomes x.re, y.re, x.im, y.im."""
        interleaved: list[Value] = []
        for x, y in zip(arguments[::2], arguments[1::2], strict=True):
            interleaved += (
                [x, y] if x not in self._parts else [each for pair in zip(self._parts[x], self._parts[y], strict=True) for each in pair]
            )
        return interleaved

    def _append_function(self, written: Block, operation: Operation) -> None:
        results = self._results(operation.results)
        kind = f"complex.{operation.kind}"
        written.operations.append(Operation(kind, [*self._flat(operation.operands)], operation.attributes, [], results, operation.name))

    def _of_part(self, operands: Sequence[Value], index: int) -> list[Value]:
        return [self._parts[each][index] if each in self._parts else self._same.get(each, each) for each in operands]

    def _constant(self, written: Block, operation: Operation) -> None:
        result, value = operation.results[0], operation.attributes.get("value")
        type_ = _part_type(result.type)
        assert type_ is not None
        arrays: list[Array | None] = [None, None]
        if isinstance(value, Dense):
            arrays = [np.array(part(value.values), order="C") for part in (np.real, np.imag)]
        parts: list[Value] = []
        for array in arrays:
            parts.append(Value(type_))
            attributes = {} if array is None else {"value": Dense(array, type_)}
            written.operations.append(Operation("constant", [], attributes, [], [parts[-1]], operation.name))
        self._parts[result] = (parts[0], parts[1])

    def _converted(self, written: Block, operation: Operation) -> None:
        """Write a conversion from complex to complex, real to complex, or complex to real numbers."""
        operand, result = operation.operands[0], operation.results[0]
        type_ = _part_type(result.type)
        if type_ is None:
            self._append(written, "convert", [self._parts[operand][REAL]], result, operation)
            return
        parts = [self._new(written, "convert", self._of_part([operand], index), type_, operation) for index in (REAL, IMAGINARY)]
        if operand not in self._parts:
            parts[IMAGINARY] = self._new(written, "complex.zero", [parts[REAL]], type_)
        self._parts[result] = (parts[0], parts[1])

    def _compare(self, written: Block, operation: Operation, direction: str, type_: Type) -> Value:
        """Write a comparison of complex numbers on their parts; returns booleans of type `type_`.

        Numbers are in the order of their real parts, those with equal real parts in the order of their imaginary ones:
        x < y is (x.re < y.re) or (x.re = y.re and x.im < y.im).
        """

        def compare(part: int, direction: str) -> Value:
            value = Value(type_)
            attributes = {**operation.attributes, "comparison_direction": direction}
            written.operations.append(
                Operation("compare", self._of_part(operation.operands, part), attributes, [], [value], operation.name)
            )
            return value

        def join(kind: str, first: Value, second: Value) -> Value:
            value = Value(type_)
            written.operations.append(Operation(kind, [first, second], {}, [], [value], operation.name))
            return value

        if direction in ("EQ", "NE"):
            return join("and" if direction == "EQ" else "or", compare(REAL, direction), compare(IMAGINARY, direction))
        tie = join("and", compare(REAL, "EQ"), compare(IMAGINARY, direction))
        return join("or", compare(REAL, direction.replace("E", "T")), tie)

    def _extreme(self, written: Block, operation: Operation, direction: str) -> None:
        """Write the maximum or minimum of two complex numbers: the first operand where it compares by `direction` with
        the second.
        """
        (result,) = operation.results
        part = _part_type(result.type)
        assert part is not None
        is_first = self._compare(written, operation, direction, TensorType(part.shape, boolean))
        parts: list[Value] = []
        for index in (REAL, IMAGINARY):
            parts.append(Value(part))
            operands = [is_first, *self._of_part(operation.operands, index)]
            written.operations.append(Operation("select", operands, {}, [], [parts[-1]], operation.name))
        self._parts[result] = (parts[0], parts[1])

    def _product(self, written: Block, operation: Operation) -> None:
        """Write a product of complex values as operations on their parts: (a + i b) (c + i d) = a c - b d + i (a d + b
        c).
        """
        result = operation.results[0]
        type_ = _part_type(result.type)
        assert type_ is not None
        (a, b), (c, d) = (self._parts[each] for each in operation.operands)

        def product(first: Value, second: Value) -> Value:
            return self._new(written, operation.kind, [first, second], type_, operation)

        real = self._new(written, "subtract", [product(a, c), product(b, d)], type_)
        self._parts[result] = (real, self._new(written, "add", [product(a, d), product(b, c)], type_))
