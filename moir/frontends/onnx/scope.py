"""The values that names of a graph stand for, while its operations are built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Attribute, SSAValue

from moir.dialects.data import DataAttr
from moir.dialects.names import tensor_names
from moir.dialects.properties import string_attribute
from moir.frontends.onnx.attributes import Bindings
from moir.frontends.operations import Operations


class Constant:
    """A constant whose operation is built at its first use: the value, and the name of the operation."""

    __slots__ = ("data", "name")

    def __init__(self, data: DataAttr, name: str) -> None:
        self.data = data
        self.name = name


class Scope:
    """The names of one graph or of one call of a function.

    Args:
        operations: the block; an inlined call shares the block of its caller.
        initializers: the initializers that have no uses yet, by name.
        prefix: prefix of the names of nodes and values.
        bindings: attributes of the call if this is in a function; None outside functions.
        has_tensor_names: whether its operations have the names of their results as tensor names.
    """

    def __init__(
        self,
        operations: Operations,
        initializers: dict[str, Any] | None = None,
        *,
        prefix: str = "",
        bindings: Bindings | None = None,
        has_tensor_names: bool = True,
    ) -> None:
        self.operations = operations
        self.initializers = initializers or {}
        self.prefix = prefix
        self.bindings = bindings
        self.has_tensor_names = has_tensor_names
        self.values: dict[str, SSAValue | None] = {}
        """Values by name; None for an absent input of a function."""
        self.constants: dict[str, Constant] = {}
        """Constants by name, with those of enclosing graphs."""
        self.types: dict[str, Attribute] = {}
        """Declared types of values by name."""
        self.renamed: dict[str, str] = {}
        """For values that are outputs of a function, their names in the caller."""

    def full_name(self, name: str) -> str:
        """The name of a value in the model: that of the graph with the prefix of the scope; empty for an empty name."""
        return (self.renamed.get(name) or self.prefix + name) if name else ""

    def named(self, op: str, results: Sequence[str]) -> dict[str, Attribute]:
        """The attributes `name` and `tensor_names` of an operation.

        Args:
            op: full name of the operation.
            results: names of its results in the graph.
        """
        attributes: dict[str, Attribute] = {"name": string_attribute(op)}
        if results and self.has_tensor_names:
            attributes["tensor_names"] = tensor_names(*map(self.full_name, results))
        return attributes

    def materialize(self, name: str, constant: Constant) -> SSAValue:
        """Build the operation of a constant; returns its result."""
        value = self.values[name] = self.operations.constant(constant.data, self.named(constant.name, [name]))
        return value
