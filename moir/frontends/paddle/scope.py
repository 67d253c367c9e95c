"""The values of one block while its operations are built, and the values that it captures from the blocks around it.

A region of the `paddle` dialect has a Parameter for each operand of its operation that it may use. A block that reads a
value from around it gets such a Parameter; constants are copied.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeAlias

from xdsl.ir import Attribute, Block, Operation, SSAValue

from moir.dialects import opset
from moir.dialects.data import DataAttr
from moir.dialects.shapes import UNKNOWN
from moir.frontends.operations import Operations, named

Key: TypeAlias = Hashable
"""The key of a value: the name of a variable, or the number of a value of PIR."""


def new_parameter(type_: Attribute, name: str | None = None) -> Operation:
    """A Parameter of type `type_`: with `name` an input of the model, without one an argument of a block."""
    return opset.operation("opset1.Parameter").create(result_types=[type_], attributes={} if name is None else named(name, name))


class Scope:
    """The values of a block by their keys, while its operations are built.

    Args:
        constants: returns the constant of a key with its name; None if the key stands for another value.
        parent: the scope around it; None for the outermost block.
    """

    def __init__(self, constants: Callable[[Key], tuple[str, DataAttr] | None], parent: Scope | None = None) -> None:
        self.operations = Operations()
        self.parent = parent
        self.captured: dict[Key, Operation] = {}
        """The Parameters for values from around the block, by their keys."""
        self._constants = constants
        self._values: dict[Key, SSAValue] = {}

    def set(self, key: Key, value: SSAValue) -> None:
        """Bind a key to a value; later look-ups return the value."""
        self._values[key] = value

    def own(self, key: Key) -> SSAValue | None:
        """The value of a key in this block itself; None if there is none."""
        return self._values.get(key)

    def add_parameter(self, key: Key, type_: Attribute) -> Operation:
        """A new Parameter as the value of a key, such as a value that a loop carries."""
        parameter = new_parameter(type_)
        self._values[key] = parameter.results[0]
        return parameter

    def find(self, key: Key) -> SSAValue | None:
        """The value of a key, captured if it belongs to an enclosing block; None if there is none."""
        value = self._values.get(key)
        if value is None and (constant := self._constants(key)) is not None:
            value = self._values[key] = self.constant(constant[1], constant[0])
        elif value is None and self.parent is not None and (outer := self.parent.find(key)) is not None:
            self.captured[key] = self.add_parameter(key, outer.type)
            value = self._values[key]
        return value

    def constant(self, data: DataAttr, name: str = "") -> SSAValue:
        """A constant."""
        return self.operations.constant(data, named(name, name) if name else None)

    def absent(self) -> SSAValue:
        """The value for an absent operand."""
        return self.operations.absent()

    def body(self, keys: Sequence[Key], results: Sequence[SSAValue], first: Sequence[Operation] = ()) -> Block:
        """The block as a region.

        Args:
            keys: the values from outside for which it gets Parameters, in order, used or not.
            results: the values of its Results.
            first: Parameters before the others.
        """
        parameters = list(first)
        for key in keys:
            parameter = self.captured.get(key)
            if parameter is None:
                outer = None if self.parent is None else self.parent.find(key)
                parameter = new_parameter(UNKNOWN if outer is None else outer.type)
            parameters.append(parameter)
        result_class = opset.operation("opset1.Result")
        ends = [result_class.create(operands=[value]) for value in results]
        return Block([*parameters, *self.operations.list, *ends])
