"""The node that a handler lowers: typed access to the operands and attributes of a framework operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, Protocol, TypeVar, cast

from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from moir.analysis.known_values import KnownValues
from moir.dialects.data import Array, DataAttr
from moir.dialects.element_types import is_element_type
from moir.dialects.framework import FrameworkOp
from moir.dialects.moir import is_none
from moir.dialects.names import name_of
from moir.dialects.properties import value_of
from moir.dialects.shapes import Shape, element_of, rank_of, shape_of
from moir.errors import UnsupportedOperationError
from moir.frameworks.record import Framework

T = TypeVar("T")


class LoweringRun(Protocol):
    """One run of a lowering pass over one model, as handlers see it.

    `known` are the known values of the model, `versions` the versions of its operation sets by domain, `notes` the
    notes for the user. If `keeps_layouts` is true, operations with an attribute for their data layout are not lowered.
    """

    known: KnownValues
    framework: Framework
    versions: Mapping[str, int]
    notes: list[str]
    keeps_layouts: bool

    def block(self, block: Block) -> None:
        """Lower the operations of a block in order. Operations of a kind without a handler stay."""
        ...

    def state(self, key: object, make: Callable[[], T]) -> T:
        """The state that the handlers of this run share under a key; `make` builds it at the first request."""
        ...

    def release(self, op: Operation) -> None:
        """Erase an operation after the node that is being lowered is replaced, if the operation then has no uses."""
        ...


class LoweringNode:
    """A node that is being lowered, with typed access to its operands and attributes.

    Args:
        op: the operation of the framework dialect.
        version: version of the operation set that defines its kind.
        run: the run of the pass, for handlers that lower bodies or share state.
        values: what the handler sees as operands; by default those of the operation.

    Handlers do not change the operation: it is replaced as a whole once its handler returns.
    """

    def __init__(self, op: FrameworkOp, version: int, run: LoweringRun, values: Sequence[SSAValue] | None = None) -> None:
        self.op = op
        self.version = version
        self.run = run
        self._values = values

    def with_operands(self, values: Mapping[int, SSAValue]) -> LoweringNode:
        """The node with some operands replaced by other values, by index."""
        return LoweringNode(self.op, self.version, self.run, [values.get(index, each) for index, each in enumerate(self.values)])

    @property
    def values(self) -> Sequence[SSAValue]:
        """All operands. An absent operand is a result of `moir.none`."""
        return self.op.operands if self._values is None else self._values

    @property
    def name(self) -> str:
        """The framework's name of the node."""
        return name_of(self.op) or ""

    @property
    def known(self) -> KnownValues:
        """The known values of the model."""
        return self.run.known

    def optional(self, index: int) -> SSAValue | None:
        """The operand at an index; None if it is absent."""
        operands = self.op.operands if self._values is None else self._values
        value = operands[index] if index < len(operands) else None
        return None if value is None or is_none(value.owner) else value

    def operand(self, index: int) -> SSAValue:
        """The operand at an index. Raises ConversionError if it is absent."""
        value = self.optional(index)
        if value is None:
            self.fail(f"operand {index} is missing")
        return value

    @property
    def operands(self) -> list[SSAValue]:
        """All operands. Raises ConversionError if one of them is absent."""
        return [self.operand(index) for index in range(len(self.values))]

    @property
    def result_count(self) -> int:
        """Number of results."""
        return len(self.op.results)

    def is_used(self, index: int) -> bool:
        """Whether a result exists and has uses."""
        return index < len(self.op.results) and bool(self.op.results[index].uses)

    def has(self, attribute: str) -> bool:
        """Whether the node has an attribute of this name."""
        return attribute in self.op.properties

    def attribute(self, name: str, default: T) -> T | Any:
        """An attribute as a Python value of the default's type; the default if the node does not have it.

        Raises ConversionError if it is of another type.
        """
        stored = self.op.properties.get(name)
        if stored is None:
            return default
        value = value_of(stored)
        if isinstance(default, float) and isinstance(value, int):
            value = float(value)
        if default is not None and not isinstance(value, type(default)):
            self.fail(f"attribute {name} is {value!r}, not of type {type(default).__name__}")
        return value

    def integer(self, name: str, default: int | None = None) -> int:
        """An integer attribute. Raises ConversionError if it is absent and has no default."""
        return self._required(name, default, 0)

    def number(self, name: str, default: float | None = None) -> float:
        """A float attribute. Raises ConversionError if it is absent and has no default."""
        return self._required(name, default, 0.0)

    def text(self, name: str, default: str | None = None) -> str:
        """A string attribute. Raises ConversionError if it is absent and has no default."""
        return self._required(name, default, "")

    def flag(self, name: str, default: bool = False) -> bool:
        """A boolean attribute, or an integer attribute, which is true if it is not 0; the default if it is absent."""
        return bool(self.attribute(name, int(default)))

    def integers(self, name: str, default: Sequence[int] | None = None) -> tuple[int, ...]:
        """An attribute that is a list of integers, or of floats that are whole numbers.

        Raises ConversionError if it is absent and has no default, or has another type.
        """
        values: tuple[Any, ...] = self._required(name, None if default is None else tuple(default), ())
        if not all(isinstance(item, int) or (isinstance(item, float) and item.is_integer()) for item in values):
            self.fail(f"attribute {name} is {values!r}, not a list of integers")
        return tuple([int(item) for item in values])

    def numbers(self, name: str, default: Sequence[float] | None = None) -> tuple[float, ...]:
        """An attribute that is a list of floats. Raises ConversionError if it is absent and has no default."""
        return tuple(float(item) for item in self._required(name, None if default is None else tuple(default), ()))

    def texts(self, name: str, default: Sequence[str] | None = None) -> tuple[str, ...]:
        """An attribute that is a list of strings. Raises ConversionError if it is absent and has no default."""
        return self._required(name, None if default is None else tuple(default), ())

    def element_attribute(self, name: str, default: Attribute | None = None) -> Attribute:
        """An attribute that is an element type. Raises ConversionError if it is absent and has no default."""
        value = self.op.properties.get(name, default)
        if value is None:
            self.fail(f"attribute {name} is missing")
        if not isinstance(value, ComplexType) and not is_element_type(value):
            self.fail(f"attribute {name} is not an element type")
        return cast(Attribute, value)

    def tensor(self, name: str) -> Array | None:
        """An attribute that is a tensor; None if it is absent."""
        value = self.op.properties.get(name)
        return value.array if isinstance(value, DataAttr) else None

    def _required(self, name: str, default: Any, kind: Any) -> Any:
        if default is None and name not in self.op.properties:
            self.fail(f"attribute {name} is missing")
        return self.attribute(name, kind if default is None else default)

    def constant(self, index: int) -> Array | None:
        """The value of an operand; None if it is not completely known or the operand is absent."""
        value = self.optional(index)
        return None if value is None else self.known.constant(value)

    def constant_integers(self, index: int) -> tuple[int, ...] | None:
        """The elements of an operand as integers; None if they are not all known or the operand is absent."""
        return self.known.integers(self.optional(index))

    def shape(self, index: int) -> Shape:
        """The shape of operand `index`; None if its rank is dynamic."""
        return shape_of(self.operand(index))

    def rank(self, index: int) -> int | None:
        """Rank of an operand; None if it is dynamic."""
        return rank_of(self.operand(index))

    def known_rank(self, index: int) -> int:
        """Rank of an operand. Raises ConversionError if it is dynamic."""
        rank = self.rank(index)
        if rank is None:
            self.fail(f"the rank of operand {index} is dynamic", hint="give the model's inputs a static rank")
        return rank

    def element(self, index: int) -> Attribute:
        """Element type of an operand."""
        return element_of(self.operand(index))

    def note(self, text: str) -> None:
        """Add a note about this node, for the user, to the notes of the model; nothing for an empty text."""
        if text:
            self.run.notes.append(f"{self.op.name} {self.name!r}: {text}")

    def fail(self, reason: str, hint: str | None = None) -> NoReturn:
        """Raise a ConversionError about this node."""
        raise UnsupportedOperationError(reason, operation=self.op.name, node=self.name, hint=hint)
