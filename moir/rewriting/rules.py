"""Fusions as traced expressions.

    SWISH = FusionRule(
        pattern=lambda op, x: op.Multiply(x, op.Sigmoid(x)),
        rewrite=lambda op, match: op.Swish(match["x"]),
    )

The pattern is called once with recorders: its parameters after `op` are variables, and `op.Kind(…)` is an operation of
that kind in any version (`op["opset8.Softmax"](…)` in one). A variable binds a value; all its occurrences must be the
same value. A number matches a constant of one element that equals it up to rounding. `op.constant("name")` matches any
constant and binds it; all occurrences of a name must be equal, or mean the same to the operations that use them, such
as the axes 2 and -1 of reductions of 3-D tensors. `op.one_of(a, b)`, an operand, matches what `a` or `b`
matches. Keyword arguments are properties that must be equal. Operands of commutative operations match in either order.

Every match has these properties, so that no rule needs to check them:

 1. An operation inside the pattern has no use outside of it, unless `shared` is set: otherwise the fusion would
    compute it twice.
 2. A constant of one element does not give its operation more dimensions than the other operand has:
    `Add(x, [[1]])` does not match `Add(x, 1)` if x is, or may be, a vector.
 3. Elementwise operations broadcast as numpy does.
 4. The replacement has the element type of the root and a shape that is at least as precise; otherwise it is erased.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Any, ClassVar, TypeAlias, cast

import numpy as np
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from moir.analysis.constants import TOLERANCES, constant_of, is_about, is_constant, outranks, scalar_of, values_of
from moir.dialects.data import Array, DataAttr
from moir.dialects.element_types import dynamic
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.properties import value_of
from moir.dialects.shapes import element_count, element_of, refines, shape_of
from moir.errors import InferenceError
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, PatternPass, Rewriter
from moir.rewriting.reporting_pass import Needs, either, kind_of_name
from moir.rewriting.terms import ConstantVariable, Expression, Number, OneOf, Order, Recorder, Term, Variable


class Match:
    """The values that a match binds: `match["x"]`."""

    def __init__(self, root: Operation, bound: dict[str, SSAValue], operations: list[Operation]) -> None:
        self.root = root
        self._bound = bound
        self.operations = operations
        """The matched operations, the root first."""

    def __getitem__(self, name: str) -> SSAValue:
        return self._bound[name]

    def constant(self, name: str) -> Array:
        """Array of a variable that is bound to a constant."""
        array = constant_of(self._bound[name])
        assert array is not None
        return array

    def scalar(self, name: str) -> float | None:
        """Number of a variable that is bound to a constant of one element; None if it has more elements."""
        values = values_of(self._bound[name])
        return float(np.asarray(values).reshape(-1)[0]) if values is not None and values.size == 1 else None

    def number(self, op: Operation, name: str) -> float:
        """A number that a matched operation has as a property, such as the limit `min` of a Clamp."""
        return float(value_of(op.properties[name]))

    def operation(self, kind: str) -> Operation:
        """The first matched operation of a kind, such as `ReduceMean`."""
        return next(op for op in self.operations if kind == cast(OpsetOp, op).KIND)

    def is_real(self, name: str) -> bool:
        """Whether the value bound to a variable has floating-point elements of 16 bits or more."""
        return element_of(self._bound[name]) in TOLERANCES


def _equal_constants(a: SSAValue, b: SSAValue, user: Operation, index: int) -> bool:
    """Whether two constants are equal, or mean the same as operand `index` of the operation that uses `b`."""
    if not isinstance(a, OpResult) or not isinstance(b, OpResult):
        return False
    data, other = a.op.properties.get("value"), b.op.properties.get("value")
    if not isinstance(data, DataAttr) or not isinstance(other, DataAttr):
        return False
    return data == other or cast(OpsetOp, user).means_same(index, data.array, other.array)


Bindings: TypeAlias = "tuple[dict[str, SSAValue], list[Operation]]"


def _match_value(term: Term, value: SSAValue, state: Bindings, user: Operation, index: int) -> Iterator[Bindings]:
    """Match a value, operand `index` of the operation `user`, with a term; yields the bindings `state` extended by each
    way to match, nothing if there is none.
    """
    if isinstance(term, Expression):
        if isinstance(value, OpResult) and value.index == 0:
            yield from _match_operation(term, value.op, state)
    elif isinstance(term, Number):
        number = scalar_of(value)
        if number is not None and is_about(number, term.value, element_of(value)):
            yield state
    elif isinstance(term, OneOf):
        for each in term.terms:
            yield from _match_value(each, value, state, user, index)
    else:
        bound = state[0].get(term.name)
        if bound is not None:
            if bound is value or (isinstance(term, ConstantVariable) and _equal_constants(bound, value, user, index)):
                yield state
        elif isinstance(term, Variable) or is_constant(value):
            yield {**state[0], term.name: value}, state[1]


def _match_operation(term: Expression, op: Operation, state: Bindings) -> Iterator[Bindings]:
    if op.name not in term.names:
        return
    operands = tuple(op.operands)
    if len(operands) != len(term.operands):
        return
    orders = plausible_orders(term, producers_of(operands))
    if not orders or not _has_properties(term, op):
        return
    bound, operations = state
    below = [*operations, op]
    for order in orders:
        if not any(_grows(term, index, operands) for index, term in enumerate(order.terms)) or "auto_broadcast" not in op.properties:
            yield from _match_operands(order.terms, op, (bound, below), 0)


def _match_operands(terms: Sequence[Term], op: Operation, state: Bindings, index: int) -> Iterator[Bindings]:
    if index == len(terms):
        yield state
        return
    for matched in _match_value(terms[index], op.operands[index], state, op, index):
        yield from _match_operands(terms, op, matched, index + 1)


def producers_of(operands: Iterable[SSAValue]) -> tuple[str, ...]:
    """Names of the operations that produce operands; an empty string for a block argument."""
    return tuple([getattr(operand.owner, "name", "") for operand in operands])


def plausible_orders(term: Expression, producers: Sequence[str]) -> list[Order]:
    """The operand orders in which the producer of every operand has a name that the pattern permits."""
    return [
        order
        for order in term.orders
        if all(names is None or producer in names for names, producer in zip(order.producers, producers, strict=True))
    ]


def _has_properties(term: Expression, op: Operation) -> bool:
    for name, expected in term.properties:
        attribute = op.properties.get(name)
        if attribute is None or value_of(attribute) != expected:
            return False
    mode = op.properties.get("auto_broadcast")
    return mode is None or value_of(mode) != "pdpd"


def _grows(term: Term, index: int, operands: Sequence[SSAValue]) -> bool:
    """Whether operand `index`, a constant of one element, may give the result of an elementwise operation a higher
    rank.

    False if `term`, which the operand matches, is not a number or constant.
    """
    if not isinstance(term, Number | ConstantVariable) or element_count(shape_of(operands[index])) != 1:
        return False
    return all(outranks(operands[index], other) for position, other in enumerate(operands) if position != index)


PatternFunction: TypeAlias = (
    Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any, Any], Any]
)
"""A function, or a lambda, of `op` and one to five variables that returns the `op.Kind(…)` of the root."""

Rewrite: TypeAlias = Callable[[OpBuilder, Match], SSAValue | None]


class FusionRule(Pattern):
    """A fusion: a traced pattern, and a function that builds the replacement of its root.

    Args:
        pattern: the pattern, traced once as described in the module docstring.
        rewrite: builds the replacement. If it returns None or raises InferenceError, the match is declined and the
            operations that it built are erased.
        shared: whether operations inside the pattern may have uses outside of it.
        name: the name of the rule in events and proofs, beside other patterns of a pass; by default, its expression.
    """

    def __init__(self, pattern: PatternFunction, rewrite: Rewrite, *, shared: bool = False, name: str = "") -> None:
        code = pattern.__code__
        variables = [Variable(name) for name in code.co_varnames[1 : code.co_argcount]]
        term = cast(Any, pattern)(Recorder(), *variables)
        assert isinstance(term, Expression), "the root of a pattern is an operation"
        self.term = term
        self.rewrite = rewrite
        self.shared = shared
        self.name = name
        self.roots = tuple(sorted(term.names))

    def __str__(self) -> str:
        return self.name or str(self.term)

    def needs(self) -> Needs:
        return tuple(dict.fromkeys(tuple(sorted(kinds)) for kinds in _needed_kinds(self.term)))

    def may_match(self, op: Operation) -> bool:
        return self.is_plausible(op.name, producers_of(op.operands))

    def bind(self, op: Operation, bound: dict[str, SSAValue], operations: list[Operation]) -> Match:
        """The match that the rewrite gets.

        Args:
            op: the root.
            bound: the bound values, by the names of variables.
            operations: all matched operations.
        """
        return Match(op, bound, operations)

    def is_plausible(self, name: str, producers: Sequence[str]) -> bool:
        """Whether an operation of a name may match, given the names of the producers of its operands."""
        return name in self.term.names and len(producers) == len(self.term.operands) and bool(plausible_orders(self.term, producers))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        for bound, operations in _match_operation(self.term, op, ({}, [])):
            if not self.shared and has_outside_uses(operations):
                rewriter.decline("an operation inside of the pattern has a use outside of it")
                continue
            try:
                value = self.rewrite(rewriter.op, self.bind(op, bound, operations))
            except InferenceError as error:
                rewriter.decline(str(error))
                value = None
            else:
                if value is None:
                    rewriter.decline("a condition of its rewrite does not hold")
            if value is not None:
                if is_refinement(value.type, op.results[0].type):
                    replace_matched(operations, value, rewriter)
                    return
                rewriter.decline(f"the replacement has type {value.type}, which is less refined than {op.results[0].type}")
            take_back(rewriter.op)


def _needed_kinds(term: Term) -> list[frozenset[tuple[str, ...]]]:
    """The alternatives of a term: each lists, for every operation in the pattern, the kinds that the operation may
    have.
    """
    if isinstance(term, OneOf):
        return [kinds for each in term.terms for kinds in _needed_kinds(each)]
    if not isinstance(term, Expression):
        return [frozenset()]
    own = frozenset((tuple(sorted(set(map(kind_of_name, term.names)))),))
    operands = product(*map(_needed_kinds, term.operands))
    return [own.union(*kinds) for kinds in operands]


def has_outside_uses(operations: Sequence[Operation]) -> bool:
    """Whether an operation other than the first, the root, is used by an operation that is not in the list."""
    return any(use.operation not in operations for each in operations[1:] for result in each.results for use in result.uses)


def is_refinement(new: Attribute, old: Attribute) -> bool:
    """Whether a value of type `new` may replace one of type `old`.

    Both have the same element type, and each dimension that is known in the old shape is known in the new one.
    """
    if new is old:
        return True
    return element_of(old) in (dynamic, element_of(new)) and refines(shape_of(new), shape_of(old))


def replace_matched(operations: Sequence[Operation], value: SSAValue, rewriter: Rewriter) -> None:
    """Replace the root, which comes first in `operations`, by a value, and erase the other operations that lose their
    last use.
    """
    root, *inner = operations
    rewriter.replace_with(root, value)
    # Users precede their producers, except where an operation has two users in the list: hence several rounds.
    while dead := [op for op in dict.fromkeys(inner) if op.parent is not None and not any(result.uses for result in op.results)]:
        for op in dead:
            rewriter.erase_replaced(op)


def take_back(builder: OpBuilder) -> None:
    """Erase the operations that a declined rewrite built."""
    built = builder.inserted or []
    while built:
        op = built.pop()
        op.detach()
        op.erase()


class AnyOf(Pattern):
    """Several rules as one pattern.

    For each combination of an operation's name and the names of its operands' producers, the rules that may match are
    cached.
    """

    def __init__(self, rules: Sequence[FusionRule]) -> None:
        self.roots = tuple(dict.fromkeys(root for rule in rules for root in rule.roots))
        self._rules = tuple(rules)
        self._plausible: dict[tuple[str, ...], tuple[FusionRule, ...]] = {}

    def needs(self) -> Needs | None:
        return either(rule.needs() for rule in self._rules)

    def may_match(self, op: Operation) -> bool:
        return bool(self.plausible(op))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        for rule in self.plausible(op):
            rewriter.pattern = rule
            rule.match_and_rewrite(op, rewriter)
            if rewriter.has_done_action:
                return

    def plausible(self, op: Operation) -> tuple[FusionRule, ...]:
        """The rules that may match an operation."""
        key = (op.name, *producers_of(op.operands))
        rules = self._plausible.get(key)
        if rules is None:
            rules = self._plausible[key] = tuple(rule for rule in self._rules if rule.is_plausible(op.name, key[1:]))
        return rules


class RulePass(PatternPass):
    """A pass that applies rules; at each operation, the first rule that matches is applied."""

    KEEPS_DIMENSIONS = True

    RULES: ClassVar[tuple[FusionRule, ...]] = ()

    def patterns(self) -> Sequence[Pattern]:
        return (AnyOf(self.RULES),) if self.RULES else ()
