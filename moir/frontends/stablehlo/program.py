"""A program as the readers of text and of bytecode give it: functions of blocks of operations.

Kinds have the names of StableHLO without a version; attributes are Python values with the names of the specification.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from xdsl.ir import Attribute

from moir.dialects.data import Array
from moir.errors import ModelFileError
from moir.support.records import Record


class Quantized(Record):
    """An element type of integers that stand for real numbers: (integer - zero point) · scale.

    Args:
        storage: the element type of the integers.
        expressed: the element type of the numbers.
        scales: one scale, or one for each slice along `axis`.
        zeros: the zero points.
        axis: the axis of the scales; None for one scale.
        lowest: the smallest integer.
        highest: the largest integer.
    """

    storage: Attribute
    expressed: Attribute
    scales: tuple[float, ...]
    zeros: tuple[int, ...]
    axis: int | None
    lowest: int
    highest: int


class TensorType(Record):
    """The type of a tensor.

    Args:
        shape: its dimensions, -1 where they are unknown; None for a tensor of dynamic rank.
        element: its element type: of the IR, of complex numbers or quantized.
    """

    shape: tuple[int, ...] | None
    element: Attribute | Quantized


class OtherType(Record):
    """A type of values that are no tensors, such as a token, by its name."""

    name: str


class TupleType(Record):
    """The type of a tuple."""

    elements: tuple[Type, ...]


class FunctionType(Record):
    """The type of a function: the types of its arguments and results."""

    inputs: tuple[Type, ...]
    outputs: tuple[Type, ...]


Type = TensorType | TupleType | OtherType | FunctionType


class Symbol(str):
    """The name of a function, where an attribute refers to one."""

    __slots__ = ()


MAXIMUM_LISTED = 1 << 16
"""The maximum number of elements of an attribute that is a 1-D array of numbers."""


class Dense(Record):
    """A constant: its elements and its type; a single element stands for all elements."""

    values: Array
    type: TensorType

    def listed(self) -> Array:
        """All elements, in the shape of the type.

        Raises ModelFileError if they do not fit the shape, or are more than `MAXIMUM_LISTED`.
        """
        shape = self.type.shape or ()
        if self.values.shape == shape:
            return self.values
        if min(shape, default=0) < 0 or self.values.size != 1 or math.prod(shape) > MAXIMUM_LISTED:
            raise ModelFileError(f"a list of the shape {list(shape)} has elements of the shape {list(self.values.shape)}")
        return np.broadcast_to(self.values.reshape(()), shape)


def dictionaries(attribute: object) -> list[Any]:
    """The dictionaries, one for each argument or result of a function, in the list `attribute`; empty if it is absent
    or no list.
    """
    return list(cast("Sequence[Any]", attribute)) if isinstance(attribute, list | tuple) else []


@dataclass(eq=False)
class Value:
    """A value: the result of an operation, or an argument of a block."""

    type: Type
    name: str = ""


@dataclass(eq=False)
class Operation:
    """An operation.

    `name` is the name in its location; empty if the location has none.
    """

    kind: str
    operands: list[Value]
    attributes: dict[str, Any]
    regions: list[Block] = field(default_factory=lambda: list[Block]())
    results: list[Value] = field(default_factory=lambda: list[Value]())
    name: str = ""


@dataclass(eq=False)
class Block:
    """A block: its arguments and its operations, of which the last one returns values."""

    arguments: list[Value]
    operations: list[Operation] = field(default_factory=lambda: list[Operation]())


@dataclass(eq=False)
class Function:
    """A function of a program: its name, arguments and block.

    `argument_attributes` and `result_attributes` are a dictionary for each argument and each result.
    """

    name: str
    body: Block
    argument_attributes: list[dict[str, Any]] = field(default_factory=lambda: list[dict[str, Any]]())
    result_attributes: list[dict[str, Any]] = field(default_factory=lambda: list[dict[str, Any]]())
    is_public: bool = True


@dataclass
class Program:
    """The functions of a module by their names."""

    name: str
    functions: dict[str, Function]


def free_values(block: Block) -> list[Value]:
    """The values that a block and the regions in it use, but do not define."""
    defined = set(block.arguments)
    free: dict[Value, None] = {}
    for operation in block.operations:
        for each in operation.operands:
            if each not in defined:
                free[each] = None
        for region in operation.regions:
            for each in free_values(region):
                if each not in defined:
                    free[each] = None
        defined.update(operation.results)
    return list(free)
