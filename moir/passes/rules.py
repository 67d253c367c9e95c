"""Fusions as traced expressions.

    SWISH = Rule(
        pattern=lambda op, x: op.Multiply(x, op.Sigmoid(x)),
        rewrite=lambda op, match: op.Swish(match["x"]),
    )

The pattern is called once with recorders: its parameters behind `op` are variables, `op.Kind(…)` is an operation of that type, in any
version (`op["opset8.Softmax"](…)` in one). A variable binds a value; where it occurs twice, both are the same value. A number is a constant
of one element of about that value; `op.constant("name")` is any constant and binds it. Keyword arguments are properties that must be equal.
Operands of commutative operations match in either order.

An operation inside the pattern may have no use outside of it, unless `shared` says so: otherwise the fusion would compute it twice.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias, cast

import numpy as np
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from moir.dialects import opset
from moir.dialects.data import Array, DataAttr
from moir.dialects.properties import value_of
from moir.errors import InferenceError
from moir.passes.building import OpBuilder
from moir.passes.rewriting import Pattern, PatternPass, Rewriter

COMMUTATIVE = frozenset(
    (
        *("Add", "Multiply", "Maximum", "Minimum", "Equal", "NotEqual", "SquaredDifference"),
        *("LogicalAnd", "LogicalOr", "LogicalXor", "BitwiseAnd", "BitwiseOr", "BitwiseXor"),
    )
)
"""Operations whose two operands may change places."""


@dataclass(frozen=True)
class Variable:
    """Any value."""

    name: str


@dataclass(frozen=True)
class ConstantVariable:
    """Any constant."""

    name: str


@dataclass(frozen=True)
class Number:
    """A constant of one element, of about this value."""

    value: float


@dataclass(frozen=True)
class Expression:
    """An operation: names of the classes it may be of, operand patterns, properties that must be equal."""

    names: frozenset[str]
    kind: str
    operands: tuple[Any, ...]
    properties: tuple[tuple[str, Any], ...]


Term: TypeAlias = Variable | ConstantVariable | Number | Expression


class Recorder:
    """What a pattern gets as `op` when it is traced."""

    def constant(self, name: str) -> ConstantVariable:
        """Any constant, bound to a name."""
        return ConstantVariable(name)

    def __getattr__(self, kind: str) -> Callable[..., Expression]:
        return lambda *operands, **properties: _expression(opset.versions(kind), kind, operands, properties)

    def __getitem__(self, name: str) -> Callable[..., Expression]:
        return lambda *operands, **properties: _expression((name,), name.partition(".")[2], operands, properties)


def _expression(names: Sequence[str], kind: str, operands: tuple[Any, ...], properties: dict[str, Any]) -> Expression:
    terms = tuple(Number(float(term)) if isinstance(term, int | float) else term for term in operands)
    return Expression(frozenset(names), kind, terms, tuple(properties.items()))


class Match:
    """Values bound by a pattern: `match["x"]`."""

    def __init__(self, root: Operation, bound: dict[str, SSAValue], operations: list[Operation]) -> None:
        self.root = root
        self._bound = bound
        self.operations = operations
        """The matched operations, the root first."""

    def __getitem__(self, name: str) -> SSAValue:
        return self._bound[name]

    def constant(self, name: str) -> Array:
        """Value of a variable that is bound to a constant."""
        array = constant_of(self._bound[name])
        assert array is not None
        return array

    def scalar(self, name: str) -> float | None:
        """Value of a constant of one element, None if it has more."""
        array = self.constant(name)
        return float(array.reshape(-1)[0]) if array.size == 1 else None

    def operation(self, kind: str) -> Operation:
        """The first matched operation of a type, e.g. `ReduceMean`."""
        return next(op for op in self.operations if op.name.rpartition(".")[2] == kind)


def constant_of(value: SSAValue) -> Array | None:
    """The array of a value that a Constant produces."""
    if isinstance(value, OpResult) and isinstance(data := value.op.properties.get("value"), DataAttr) and data.data.array is not None:
        return data.data.array
    return None


Bindings: TypeAlias = "tuple[dict[str, SSAValue], list[Operation]]"


def _match_value(term: Term, value: SSAValue, state: Bindings) -> Iterator[Bindings]:
    """Ways to match a value; each yields the bindings so far."""
    if isinstance(term, Variable | ConstantVariable):
        bound = state[0].get(term.name)
        if bound is not None:
            if bound is value:
                yield state
        elif isinstance(term, Variable) or constant_of(value) is not None:
            yield {**state[0], term.name: value}, state[1]
    elif isinstance(term, Number):
        array = constant_of(value)
        if (
            array is not None
            and array.size == 1
            and array.dtype.kind in "fiuV"
            and np.isclose(float(array.reshape(-1)[0]), term.value, 1e-3, 0)
        ):
            yield state
    elif isinstance(value, OpResult) and value.index == 0:
        yield from _match_operation(term, value.op, state)


def _match_operation(term: Expression, op: Operation, state: Bindings) -> Iterator[Bindings]:
    if op.name not in term.names or len(op.operands) != len(term.operands):
        return
    for name, expected in term.properties:
        if value_of(op.properties[name]) != expected:
            return
    bound, operations = state
    orders = [term.operands]
    if term.kind in COMMUTATIVE and term.operands[0] != term.operands[1]:
        orders.append(term.operands[::-1])
    for order in orders:
        yield from _match_operands(order, op, (bound, [*operations, op]), 0)


def _match_operands(terms: Sequence[Term], op: Operation, state: Bindings, index: int) -> Iterator[Bindings]:
    if index == len(terms):
        yield state
        return
    for matched in _match_value(terms[index], op.operands[index], state):
        yield from _match_operands(terms, op, matched, index + 1)


PatternFunction: TypeAlias = (
    Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any], Any]
)
"""`op` and one to four variables; returns what `op.Kind(…)` returned."""

Rewrite: TypeAlias = Callable[[OpBuilder, Match], SSAValue | None]


class Rule(Pattern):
    """A fusion: a traced pattern, and the value that replaces its root.

    Args:
        pattern: traced once, see the module.
        rewrite: builds the replacement; None declines (and then must not have built anything).
        shared: operations inside may have uses outside of the pattern.
    """

    def __init__(self, pattern: PatternFunction, rewrite: Rewrite, *, shared: bool = False) -> None:
        variables = [Variable(name) for name in list(inspect.signature(pattern).parameters)[1:]]
        term = cast(Any, pattern)(Recorder(), *variables)
        assert isinstance(term, Expression), "the root of a pattern is an operation"
        self.term = term
        self.rewrite = rewrite
        self.shared = shared
        self.roots = tuple(opset.operation(name) for name in sorted(term.names))

    def match(self, op: Operation) -> Iterator[Match]:
        """The ways in which the pattern matches at an operation."""
        for bound, operations in _match_operation(self.term, op, ({}, [])):
            if self.shared or all(use.operation in operations for each in operations[1:] for result in each.results for use in result.uses):
                yield Match(op, bound, operations)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        assert isinstance(rewriter, Rewriter)
        for match in self.match(op):
            try:
                value = self.rewrite(rewriter.op, match)
            except InferenceError:
                # The fused operation does not take these operands; what was built for it has no uses and is eliminated as dead.
                continue
            if value is not None:
                rewriter.replace_with(op, value)
                return


@dataclass(frozen=True)
class RulePass(PatternPass):
    """A pass that applies rules."""

    RULES: ClassVar[tuple[Rule, ...]] = ()

    def patterns(self) -> Sequence[RewritePattern]:
        return self.RULES
