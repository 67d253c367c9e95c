"""Rewriting a program so that each element of a tuple is a value of its own, since an IR has no tuples.

    %t = tuple %a, %b : tuple<tensor<2xf32>, tensor<3xi32>>
    %r = call @f(%t) : (tuple<tensor<2xf32>, tensor<3xi32>>) -> tensor<2xf32>
->  %r = call @f(%a, %b) : (tensor<2xf32>, tensor<3xi32>) -> tensor<2xf32>

Arguments and results of functions, of regions and of operations with regions are replaced, too. A model has an input
for each element of a tuple that is an argument, and an output for each element of one that it returns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from moir.frontends.stablehlo.builder import ProgramBuilder
from moir.frontends.stablehlo.program import Block, Function, Operation, Program, TupleType, Type, Value

MAXIMUM_ELEMENTS = 1 << 14
"""The largest number of elements of a tuple, including those of the tuples within it."""


def without_tuples(builder: ProgramBuilder) -> Program:
    """The program without tuples; the program itself if it has none.

    Raises ModelFileError for an element that a tuple does not have.
    """
    program = builder.program
    if not any(_has_tuple(function.body) for function in program.functions.values()):
        return program
    return Program(program.name, {name: _TupleFlattener(builder).function(function) for name, function in program.functions.items()})


def _has_tuple(block: Block) -> bool:
    if any(isinstance(each.type, TupleType) for each in block.arguments):
        return True
    return any(
        any(isinstance(each.type, TupleType) for each in (*operation.operands, *operation.results))
        or operation.kind == "get_tuple_element"
        or any(_has_tuple(region) for region in operation.regions)
        for operation in block.operations
    )


class _TupleFlattener:
    """Writes a function without tuples.

    Args:
        builder: the builder of the model, for errors.
    """

    def __init__(self, builder: ProgramBuilder) -> None:
        self._builder = builder
        self._elements: dict[Value, list[Value]] = {}
        """The elements of each tuple; an element may be a tuple itself."""
        self._same: dict[Value, Value] = {}
        """The element that each get_tuple_element reads."""

    def function(self, function: Function) -> Function:
        """A function, with an argument and a result for each element of a tuple; their attributes are left out."""
        arguments = self._repeated(function.argument_attributes, function.body.arguments)
        results = self._repeated(function.result_attributes, function.body.operations[-1].operands if function.body.operations else ())
        return Function(function.name, self._block(function.body), arguments, results, function.is_public)

    def _repeated(self, attributes: Sequence[dict[str, Any]], values: Sequence[Value]) -> list[dict[str, Any]]:
        """For each of `values`, the attribute dictionary of the argument; an element of a tuple gets an empty one."""
        repeated: list[dict[str, Any]] = []
        for index, value in enumerate(values):
            own = attributes[index] if index < len(attributes) else {}
            repeated += [{}] * self._size(value.type) if isinstance(value.type, TupleType) else [own]
        return repeated

    def _block(self, block: Block) -> Block:
        written = Block(self._declared(block.arguments))
        for operation in block.operations:
            if operation.kind == "tuple":
                self._elements[operation.results[0]] = [self._same.get(each, each) for each in operation.operands]
            elif operation.kind == "get_tuple_element":
                self._read(operation)
            else:
                regions = [self._block(region) for region in operation.regions]
                operands = [leaf for each in operation.operands for leaf in self._leaves(each)]
                results = self._declared(operation.results)
                written.operations.append(Operation(operation.kind, operands, operation.attributes, regions, results, operation.name))
        return written

    def _declared(self, values: Sequence[Value]) -> list[Value]:
        """Arguments or results, in which new values for its elements replace each tuple."""
        declared: list[Value] = []
        for value in values:
            if isinstance(value.type, TupleType):
                self._size(value.type)
                self._declare(value, value.type)
            declared += self._leaves(value)
        return declared

    def _declare(self, value: Value, type_: TupleType) -> None:
        elements = [Value(each, f"{value.name}_{index}" if value.name else "") for index, each in enumerate(type_.elements)]
        self._elements[value] = elements
        for element, each in zip(elements, type_.elements, strict=True):
            if isinstance(each, TupleType):
                self._declare(element, each)

    def _leaves(self, value: Value) -> Iterator[Value]:
        """The value itself, or the elements of a tuple and of the tuples in it."""
        pending = [value]
        while pending:
            each = pending.pop()
            each = self._same.get(each, each)
            if each in self._elements:
                pending += reversed(self._elements[each])
            else:
                yield each

    def _size(self, type_: TupleType) -> int:
        """The number of elements of a tuple type, nested ones included. Raises ModelFileError if there are too many.

        Types of bytecode may share their elements, so that it may be large.
        """
        pending: list[Type] = [type_]
        count = 0
        while pending:
            each = pending.pop()
            if isinstance(each, TupleType):
                pending += each.elements
            else:
                count += 1
            if count + len(pending) > MAXIMUM_ELEMENTS:
                raise self._builder.error(f"a tuple has more than {MAXIMUM_ELEMENTS} elements")
        return count

    def _read(self, operation: Operation) -> None:
        tuple_, index = self._same.get(operation.operands[0], operation.operands[0]), operation.attributes.get("index")
        elements = self._elements.get(tuple_)
        if elements is None:
            raise self._builder.error("its operand is not a tuple", operation.kind, operation.name)
        if not isinstance(index, int) or not 0 <= index < len(elements):
            raise self._builder.error(f"there is no element {index} of a tuple of {len(elements)}", operation.kind, operation.name)
        self._same[operation.results[0]] = elements[index]
