"""Construction of operations of the opset dialects: `op.Softmax(x, axis=-1)`.

The attribute is the operation kind, whose newest version is built; `op["opset1.Softmax"](x)` selects a version.
Operands that are not values become constants: a number takes the element type of the other operand of an elementwise
operation; elsewhere integers are i64 and floats f32. Missing properties take their defaults, and result types are
inferred at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import LocationAttr, UnknownLoc
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue, SSAValues

from moir.analysis.known_values import KnownValues
from moir.dialects import opset
from moir.dialects.data import Array, DataAttr
from moir.dialects.element_types import dynamic, f32, si64, to_numpy
from moir.dialects.inference import set_type
from moir.dialects.large_arrays import ComputedArray, Values
from moir.dialects.locations import located
from moir.dialects.moir import NoneOp
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import property_table
from moir.dialects.properties import string_attribute
from moir.dialects.shapes import UNKNOWN, element_of, impossibility, tensor
from moir.errors import InferenceError
from moir.support.suggestions import did_you_mean

Operand: TypeAlias = SSAValue | float | bool | Sequence[int] | Sequence[float] | Values | None
"""A value, a Python or numpy value that becomes a constant, or None for an absent operand."""


LARGEST_FILLED = 1 << 20
"""Maximum number of elements of a stored constant whose elements are all equal."""

LARGEST_RESULT_COUNT = 1 << 16
"""Maximum number of results of an operation, beyond any valid model: the number may come from a damaged file."""

_RESULTS = frozenset((OpResult,))
"""The set of the class OpResult, for operands that are results of operations."""


class Constructor:
    """Builds operations of one class."""

    __slots__ = ("builder", "operation")

    def __init__(self, builder: OpBuilder, operation: type[OpsetOp]) -> None:
        self.builder = builder
        self.operation = operation

    def __call__(self, *operands: Operand, **properties: Any) -> SSAValue:
        """Build the operation and return its first result."""
        return self.builder.create(self.operation, operands, properties).results[0]

    def results(self, *operands: Operand, **properties: Any) -> tuple[SSAValue, ...]:
        """Build the operation and return all its results."""
        return tuple(self.builder.create(self.operation, operands, properties).results)

    def parts(self, count: int, *operands: Operand, **properties: Any) -> tuple[SSAValue, ...]:
        """Build an operation with `count` results, such as VariadicSplit, and return all its results."""
        return tuple(self.builder.create(self.operation, operands, properties, count).results)


def unknown_property(operation: str, name: str, known: Iterable[str]) -> str:
    """The message for a property that an operation does not have."""
    properties = list(known)
    listed = f"its properties are {', '.join(properties)}" if properties else "it has no properties"
    return f"{operation} has no property {name}; {did_you_mean(name, properties, listed)}"


class OpBuilder:
    """Builds operations before an operation, or at the end of a block.

    Args:
        known: known values, shared by all operations that one pass builds.
        block: the block in which to build.
        anchor: the operation before which to build; None for the end of the block.
    """

    def __init__(self, known: KnownValues, block: Block, anchor: Operation | None = None) -> None:
        self.known = known
        self.block = block
        self.anchor = anchor
        self.inserted: list[Operation] | None = None
        """List to which all built operations are appended; None to collect none."""

    def __getattr__(self, kind: str) -> Constructor:
        try:
            constructor = Constructor(self, opset.newest(kind))
        except KeyError:
            raise AttributeError(opset.unknown_operation(kind)) from None
        # Later accesses find the attribute in the instance and do not call this method.
        self.__dict__[kind] = constructor
        return constructor

    def __getitem__(self, name: str) -> Constructor:
        try:
            return Constructor(self, opset.operation(name))
        except KeyError:
            raise KeyError(opset.unknown_operation(name)) from None

    def insert(self, op: Operation) -> None:
        """Insert an operation at the insertion point of the builder, with the location of the operation after it."""
        if self.anchor is None:
            self.block.add_op(op)
        else:
            if type(op.location) is UnknownLoc:
                op.location = located(self.anchor)
            self.block.insert_op_before(op, self.anchor)
        if self.inserted is not None:
            self.inserted.append(op)

    def create(self, operation: type[OpsetOp], operands: Sequence[Operand], properties: dict[str, Any], result_count: int = 0) -> OpsetOp:
        """Build an operation of a class.

        `result_count` is its number of results if its class does not determine it. Raises InferenceError if the
        operands contradict the operation.
        """
        table = property_table(operation)
        attributes = dict(table.defaults)
        for name, value in properties.items():
            spec = table.specs.get(name) or table.specs.get(name := name.replace("_", "-"))
            if spec is None:
                raise TypeError(unknown_property(operation.name, name, table.specs))
            attributes[name] = value if spec.kind.kind == "attribute" else spec.kind.attribute(value)
        if len(attributes) < len(table.specs):
            missing = [name for name, spec in table.specs.items() if name not in attributes and not spec.optional]
            if missing:
                raise TypeError(f"{operation.name} needs {', '.join(missing)}")
        op = operation.create(
            operands=self._values(operands, "auto_broadcast" in table.specs), properties=attributes, location=self._location()
        )
        if result_count > LARGEST_RESULT_COUNT:
            op.drop_all_references()
            raise InferenceError(f"an operation with {result_count} results is not possible")
        if result_count:
            op.results = SSAValues(OpResult(UNKNOWN, op, index) for index in range(result_count))
        self.insert_inferred(op)
        return op

    def _location(self) -> LocationAttr | None:
        """The location for new operations: that of the operation they are inserted before; None at the end of the
        block.
        """
        return None if self.anchor is None else located(self.anchor)

    def insert_inferred(self, op: OpsetOp) -> None:
        """Insert an operation that was created without results, and give it results of the inferred types."""
        op.results = SSAValues(OpResult(UNKNOWN, op, index) for index in range(op.result_count()))
        try:
            types = op.infer(self.known)
        except InferenceError:
            # The operation was never inserted, so it will not be erased: drop its uses of operands.
            op.drop_all_references()
            raise
        for result, type_ in zip(op.results, types, strict=True):
            set_type(result, type_)
        self.insert(op)

    def _values(self, operands: Sequence[Operand], elementwise: bool) -> list[SSAValue]:
        # isinstance(x, SSAValue) is slow, so the usual case of results only is checked by exact types.
        if _RESULTS.issuperset(map(type, operands)):
            results: Any = operands
            return results
        values = [operand for operand in operands if isinstance(operand, SSAValue)]
        while operands and operands[-1] is None:
            operands = operands[:-1]
        # Constants get the element type of the last value: a condition comes before the operands that it selects.
        like = values[-1] if elementwise and values else None
        return [self._value(operand, like) for operand in operands]

    def _value(self, operand: Operand, like: SSAValue | None) -> SSAValue:
        if isinstance(operand, SSAValue):
            return operand
        if operand is None:
            none = NoneOp.of()
            self.insert(none)
            return none.result
        if like is None or isinstance(operand, np.ndarray):
            return self.constant(operand)
        return self.constant_like(operand, like)

    def constant(self, value: Operand, element: Attribute | None = None, name: str | None = None) -> SSAValue:
        """A constant. By default integers are i64, floats f32, and arrays keep their element type.

        Raises InferenceError if a number does not fit into the element type.
        """
        if element is None and not isinstance(value, np.ndarray | ComputedArray):
            kind = np.asarray(value).dtype.kind
            element = si64 if kind in "iu" or np.asarray(value).size == 0 else f32 if kind == "f" else None
        try:
            data = DataAttr.of(cast(Values, value), element)
        except OverflowError as error:
            raise InferenceError(f"a number of the constant {str(value)[:100]} does not fit into its element type") from error
        op = opset.operation("opset1.Constant").create(
            properties={"value": data}, result_types=[tensor(data.shape, data.element)], location=self._location()
        )
        if name is not None:
            op.attributes["name"] = string_attribute(name)
        self.insert(op)
        return op.results[0]

    def constant_like(self, value: Operand, like: SSAValue) -> SSAValue:
        """A constant of the element type of the value `like`. Raises InferenceError if the type cannot hold the
        number.
        """
        element = element_of(like)
        if element is dynamic:
            return self.ConvertLike(self.constant(value), like)
        array = np.asarray(value)
        storage = to_numpy(element)
        if storage.kind in "iu" and array.dtype.kind == "f" and not np.array_equal(array, np.trunc(array)):
            raise InferenceError(f"{value} is not a value of element type {element}")
        return self.constant(array.astype(storage), element)

    def filled(self, shape: Sequence[int], number: float | Array | np.generic, element: Attribute | None = None) -> SSAValue:
        """A tensor of one number: a constant, or a Broadcast if it is so large that it would take up space in the IR.

        Raises InferenceError for a shape that no tensor has.
        """
        if _is_small(shape):
            return self.constant(np.full(shape, number), element)
        return self.Broadcast(self.constant(np.asarray(number), element), list(shape))

    def filled_like(self, shape: Sequence[int], number: float, like: SSAValue) -> SSAValue:
        """A tensor of one number, built like `filled`, with the element type of another value."""
        if _is_small(shape):
            return self.constant_like(np.full(shape, number), like)
        return self.Broadcast(self.constant_like(number, like), list(shape))

    def convert(self, value: SSAValue, element: Attribute) -> SSAValue:
        """Convert a value to another element type; returns the value itself if it has that type."""
        return value if element_of(value) == element else self.Convert(value, destination_type=element)

    def transposed(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """Transpose a value by a permutation; returns the value itself for the identity."""
        return value if list(order) == sorted(order) else self.Transpose(value, np.array(order, np.int64))


def _is_small(shape: Sequence[int]) -> bool:
    """Whether a tensor filled with one number is small enough to be a constant. Raises InferenceError for an invalid
    shape.
    """
    if (reason := impossibility(shape)) or min(shape, default=0) < 0:
        raise InferenceError(reason or f"a tensor of shape {list(shape)} is not possible")
    return prod(shape) <= LARGEST_FILLED
