"""The terms of a pattern, and the recorder that builds them while the pattern is traced.

    lambda op, x: op.Multiply(x, op.Sigmoid(x))
->  Expression(Multiply, (Variable(x), Expression(Sigmoid, (Variable(x),))))

`moir.rewriting.rules` matches them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, ClassVar, TypeAlias, cast

from xdsl.traits import Commutative

from moir.dialects import opset
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import property_table
from moir.rewriting.builder import unknown_property

_CONSTANT = frozenset(("opset1.Constant",))


# The patterns of a pass are hundreds of terms, made when it is imported: hence classes with slots.


class Variable:
    """Matches any value."""

    __slots__ = ("name",)

    producers: ClassVar[frozenset[str] | None] = None
    """The names of the operations that may produce the matched value; None for any."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return self.name


class ConstantVariable:
    """Matches any constant. Occurrences of one name are equal."""

    __slots__ = ("name",)

    producers: ClassVar[frozenset[str] | None] = _CONSTANT

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConstantVariable) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return f"constant {self.name}"


class Number:
    """Matches a constant of one element that equals a number up to rounding."""

    __slots__ = ("value",)

    producers: ClassVar[frozenset[str] | None] = _CONSTANT

    def __init__(self, value: float) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and other.value == self.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __str__(self) -> str:
        return f"{self.value:g}"


class Expression:
    """Matches an operation: names of the permitted classes, operand patterns, required properties."""

    __slots__ = ("kind", "operands", "orders", "producers", "properties")

    def __init__(
        self, names: Sequence[str], kind: str, operands: tuple[Term, ...], properties: tuple[tuple[str, Any], ...], *, is_commutative: bool
    ) -> None:
        self.producers: frozenset[str] = frozenset(names)
        self.kind = kind
        self.operands = operands
        self.properties = properties
        both = is_commutative and operands[0] != operands[1]
        self.orders = (Order(operands), Order(operands[::-1])) if both else (Order(operands),)

    @property
    def names(self) -> frozenset[str]:
        """The names of the permitted classes."""
        return self.producers

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Expression) or (self.producers, self.properties) != (other.producers, other.properties):
            return False
        return self.operands == other.operands

    def __hash__(self) -> int:
        return hash((self.producers, self.operands))

    def __str__(self) -> str:
        properties = [f"{name}={value}" for name, value in self.properties]
        return f"{self.kind}({', '.join([*map(str, self.operands), *properties])})"


class OneOf:
    """Matches a value that any of several terms matches; they are tried in order."""

    __slots__ = ("producers", "terms")

    def __init__(self, terms: tuple[Term, ...]) -> None:
        self.terms = terms
        self.producers = _any_producers(terms)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OneOf) and other.terms == self.terms

    def __hash__(self) -> int:
        return hash(self.terms)

    def __str__(self) -> str:
        return f"one of ({', '.join(map(str, self.terms))})"


def _any_producers(terms: Sequence[Term]) -> frozenset[str] | None:
    kinds: set[str] = set()
    for term in terms:
        if term.producers is None:
            return None
        kinds |= term.producers
    return frozenset(kinds)


class Order:
    """One order of operand patterns, with the permitted names of each operand's producer (None: any)."""

    __slots__ = ("producers", "terms")

    def __init__(self, terms: tuple[Term, ...]) -> None:
        self.terms = terms
        self.producers = tuple([term.producers for term in terms])


Term: TypeAlias = Variable | ConstantVariable | Number | Expression | OneOf


class Recorder:
    """The argument `op` of a pattern while it is traced: `op.Kind(…)` records an `Expression` instead of building
    one.
    """

    def constant(self, name: str) -> ConstantVariable:
        """A pattern for any constant, bound to a name."""
        return ConstantVariable(name)

    def one_of(self, *terms: Term) -> OneOf:
        """A pattern for a value that any of several patterns matches."""
        return OneOf(terms)

    def __getattr__(self, kind: str) -> Callable[..., Expression]:
        try:
            names = opset.versions(kind)
        except KeyError:
            raise AttributeError(opset.unknown_operation(kind)) from None

        def build(*operands: Any, **properties: Any) -> Expression:
            return _expression(names, kind, operands, properties)

        # Caches the function as an attribute, so that __getattr__ runs once for each kind.
        vars(self)[kind] = build
        return build

    def __getitem__(self, name: str) -> Callable[..., Expression]:
        return lambda *operands, **properties: _expression((name,), name.partition(".")[2], operands, properties)


_NUMBERS = (int, float)


def _expression(names: Sequence[str], kind: str, operands: tuple[Any, ...], properties: dict[str, Any]) -> Expression:
    terms = tuple([Number(float(term)) if isinstance(term, _NUMBERS) else term for term in operands])
    try:
        operation = opset.operation(names[-1])
    except KeyError:
        raise KeyError(opset.unknown_operation(names[-1])) from None
    expected: list[tuple[str, Any]] = []
    if properties:
        table = property_table(operation).specs
        for name, value in properties.items():
            spelled = name if name in table else name.replace("_", "-")
            if spelled not in table:
                raise TypeError(unknown_property(names[-1], name, table))
            expected.append((spelled, tuple(cast("Sequence[Any]", value)) if isinstance(value, list) else value))
    return Expression(names, kind, terms, tuple(expected), is_commutative=_is_commutative(operation))


@cache
def _is_commutative(operation: type[OpsetOp]) -> bool:
    return operation.has_trait(Commutative)
