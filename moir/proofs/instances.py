"""Models that the pattern of a fusion rule matches: its alternatives, for element types and shapes.

Maximum(x, constant low)  ->  %x = Parameter : tensor<?x?xf32>;  %y = Maximum(%x, 0.84375)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from moir.analysis.known_values import KnownValues
from moir.dialects import opset
from moir.dialects.element_types import boolean, f32, si32, si64, to_numpy, ui8
from moir.dialects.moir import ModelOp
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.opset.interfaces.properties import property_table
from moir.dialects.properties import string_attribute
from moir.dialects.shapes import element_of, tensor
from moir.errors import InferenceError
from moir.rewriting.builder import OpBuilder
from moir.rewriting.rules import FusionRule
from moir.rewriting.terms import ConstantVariable, Expression, Number, OneOf, Term, Variable
from moir.support.records import Record

MOST_RANKS = 4

STATIC = (2, 3, 2)
"""The static sizes of data, for rules that decline dynamic ones."""

MOST_NUMBERS = 4
"""The largest number of elements of a constant whose elements are variables of the proof."""

AXES: dict[int, list[tuple[int, ...]]] = {
    1: [(0,), (-1,)],
    2: [(0,), (1,), (0, 1)],
    3: [(1,), (-1,), (0, 2), (1, 2)],
    4: [(1,), (1, 3), (2, 3), (0, 1, 2, 3)],
}
"""For each rank, the axes of reductions that are tried: one axis, the last one, neighbours, others, all."""

ELEMENTS: tuple[Attribute, ...] = (f32, si32, ui8, boolean)
"""An element type of each kind of arithmetic: real numbers, integers with and without a sign, and truth values."""


class Shapes(Record):
    """The shapes of the variables of a pattern.

    Args:
        values: a shape for each variable, with -1 for any size.
        constants: a shape for each constant that is not the axes of a reduction.
        axes: the axes of a reduction.
        keep_dims: whether reductions keep them.
    """

    values: dict[str, tuple[int, ...]]
    constants: dict[str, tuple[int, ...]]
    axes: tuple[int, ...]
    keep_dims: bool


class Instance(Record):
    """A model that a rule may match.

    Args:
        module: the model.
        root: the operation that the pattern's root matches.
    """

    module: ModuleOp
    root: Operation


class Roles:
    """The roles of a pattern's variables: data, axes of reductions, or target shapes of Broadcasts."""

    def __init__(self, term: Expression) -> None:
        self.variables: dict[str, None] = {}
        self.constants: dict[str, None] = {}
        self.axes: set[str] = set()
        self.targets: set[str] = set()
        self.reduces = False
        self.keeps_dims = True
        """Whether the pattern says that its reductions keep the dimensions."""
        self.properties: dict[tuple[str, str], tuple[Any, ...]] = {}
        """The properties that the pattern leaves open, by kind and name, with the values of each."""
        self._visit(term)

    def _visit(self, term: Term) -> None:
        match term:
            case Variable():
                self.variables[term.name] = None
            case ConstantVariable():
                self.constants[term.name] = None
            case OneOf():
                for each in term.terms:
                    self._visit(each)
            case Expression():
                self._expression(term)
            case _:
                pass

    def _expression(self, term: Expression) -> None:
        self.reduces = self.reduces or term.kind.startswith("Reduce")
        self.keeps_dims = self.keeps_dims and (not term.kind.startswith("Reduce") or ("keep_dims", True) in term.properties)
        for index, operand in enumerate(term.operands):
            if index == 1 and isinstance(operand, Variable | ConstantVariable):
                if term.kind.startswith("Reduce"):
                    self.axes.add(operand.name)
                elif term.kind == "Broadcast":
                    self.targets.add(operand.name)
            self._visit(operand)
        named = {name for name, _ in term.properties}
        for name, spec in property_table(opset.operation(max(term.names))).specs.items():
            if name in named or name == "keep_dims" or spec.optional or name == "auto_broadcast" or name == "m_pythondiv":
                continue
            if spec.kind.kind == "str" and spec.kind.allowed:
                self.properties[term.kind, name] = spec.kind.allowed
            elif spec.kind.kind == "float":
                self.properties[term.kind, name] = ()


def with_operands(term: Expression, operands: tuple[Term, ...]) -> Expression:
    """The term of an operation with `operands` in place of its own."""
    return Expression(tuple(sorted(term.names)), term.kind, operands, term.properties, is_commutative=False)


def shapes_of(roles: Roles, is_dynamic: bool) -> Iterator[Shapes]:
    """The shapes for which a rule is proved: any sizes at ranks up to 4, and other operands of a lower or higher rank.

    Args:
        roles: the roles of the pattern's variables.
        is_dynamic: whether sizes are dynamic; static ones are for rules that ask for them.
    """
    data = [name for name in roles.variables if name not in roles.axes | roles.targets]
    constants = [name for name in roles.constants if name not in roles.axes]
    for rank in range(0 if not roles.reduces else 1, MOST_RANKS + 1):
        subsets = AXES[rank] if roles.reduces else [()]
        for axes in subsets:
            for keep_dims in (True,) if roles.keeps_dims else (True, False):
                whole = (-1,) * rank if is_dynamic else STATIC[:rank]
                if is_dynamic or rank <= (2 if roles.reduces else 3):
                    for others in _other_shapes(data[1:], whole, few=roles.reduces and (rank > 1 or len(data) > 2)):
                        for own in _constant_shapes(constants, whole, is_dynamic):
                            yield Shapes({**dict.fromkeys(data[:1], whole), **others}, own, axes, keep_dims)


def _other_shapes(names: Sequence[str], whole: tuple[int, ...], *, few: bool = False) -> Iterator[dict[str, tuple[int, ...]]]:
    """Shapes for the variables `names` beside a first variable of the shape `whole`: equal, broadcast, of other ranks.

    `few` leaves out most of them.
    """
    if not names:
        yield {}
        return
    units = (1,) * len(whole)
    if few:
        options = [whole, units] if len(whole) == 1 or (len(whole) < MOST_RANKS - 1 and len(names) < 2) else [units]
    else:
        options = [whole, (*whole[:-1], 1) if len(whole) > 1 else (), ()]
        if len(whole) < MOST_RANKS - 1:
            options += [units, whole[1:], (-1, *whole)]
    seen: set[tuple[tuple[int, ...], ...]] = set()
    for shape in options:
        for rest in (shape,) if few or shape == whole else (shape, whole):
            shapes = (shape, *(rest for _ in names[1:]))
            if shapes not in seen:
                seen.add(shapes)
                yield dict(zip(names, shapes, strict=True))


def _constant_shapes(names: Sequence[str], whole: tuple[int, ...], dynamic: bool) -> Iterator[dict[str, tuple[int, ...]]]:
    """Shapes of the constants `names` beside data of the shape `whole`: of one element, or of more for static shapes.

    Yields a shape for each name; `dynamic` leaves out constants of more than one element.
    """
    if not names:
        yield {}
        return
    options: list[tuple[int, ...]] = [(), (1,) * len(whole), (1,) * (len(whole) + 1)]
    if not dynamic and whole:
        options += [whole[-1:], (whole[0], *(1,) * (len(whole) - 1)), *([whole] if prod(whole) <= MOST_NUMBERS else [])]
    for shape in dict.fromkeys(options):
        yield dict.fromkeys(names, shape)


class InstanceBuilder:
    """Builds a model that one alternative of a rewrite rule's pattern matches.

    Args:
        roles: the roles of the pattern's variables.
        element: the element type of data.
        shapes: the shapes of variables and constants.
        values: the values of the elements of constants, by `name_index`, and of numeric properties, by `kind.name`.
        properties: the values of properties that the pattern leaves open and that are strings, by kind and name.
    """

    def __init__(
        self,
        roles: Roles,
        element: Attribute,
        shapes: Shapes,
        values: Mapping[str, float],
        properties: Mapping[tuple[str, str], Any],
    ) -> None:
        self.roles = roles
        self.element = element
        self.shapes = shapes
        self.values = values
        self.properties = properties
        self.block = Block()
        self.op = OpBuilder(KnownValues(), self.block)
        self.bound: dict[str, SSAValue] = {}
        self.built: dict[Term, SSAValue] = {}

    def build(self, term: Term) -> Instance:
        """The model. Raises InferenceError if the operations do not accept the element types or shapes."""
        for name in self.roles.variables:
            if name not in self.roles.axes | self.roles.targets:
                self.bound[name] = self._parameter(name, self.shapes.values[name])
        root = self._value(term, None)
        result = Result.create(operands=[root])
        result.attributes["name"] = string_attribute("result")
        self.block.add_op(result)
        module = ModuleOp([ModelOp.of("pattern", self.block)])
        return Instance(module, cast(Operation, root.owner))

    def _parameter(self, name: str, shape: tuple[int, ...]) -> SSAValue:
        op = Parameter.create(result_types=[tensor(shape, self.element)])
        op.attributes["name"] = string_attribute(name)
        self.block.add_op(op)
        return op.results[0]

    def _value(self, term: Term, like: SSAValue | None) -> SSAValue:
        match term:
            case Variable() | ConstantVariable():
                return self._variable(term.name, like)
            case Number():
                element = self.element if like is None else element_of(like)
                return self.op.constant(np.array(term.value).astype(to_numpy(element)), element)
            case Expression():
                return self._expression(term)
            case _:
                raise TypeError("a choice is left in the pattern")

    def _variable(self, name: str, like: SSAValue | None) -> SSAValue:
        value = self.bound.get(name)
        if value is None:
            if name in self.roles.axes:
                value = self.op.constant(np.array(self.shapes.axes, np.int64), si64)
            elif name in self.roles.targets:
                value = self.op.ShapeOf(self.bound["x"])
            else:
                shape, element = self.shapes.constants[name], self.element if like is None else element_of(like)
                numbers = [self.values[f"{name}_{index}"] for index in range(prod(shape))]
                value = self.op.constant(np.array(numbers).reshape(shape).astype(to_numpy(element)), element)
            self.bound[name] = value
        return value

    def _expression(self, term: Expression) -> SSAValue:
        kept = self.built.get(term)
        if kept is not None:
            return kept
        operands: list[SSAValue | None] = [
            None if isinstance(each, Number | ConstantVariable) else self._value(each, None) for each in term.operands
        ]
        like = next((each for each in reversed(operands) if each is not None), None)
        if term.kind == "Select":
            like = next((each for each in operands[1:] if each is not None), None)
        filled = [self._value(each, like) if value is None else value for each, value in zip(term.operands, operands, strict=True)]
        properties: dict[str, Any] = {**dict(term.properties)}
        for (kind, name), words in self.roles.properties.items():
            if kind == term.kind and name not in properties:
                properties[name] = self.properties[kind, name] if words else self.values[f"{kind}_{name}"]
        operation = opset.operation(max(term.names, key=lambda each: (len(each.partition(".")[0]), each)))
        if "keep_dims" in property_table(operation).specs and "keep_dims" not in properties:
            properties["keep_dims"] = self.shapes.keep_dims
        value = self.op[operation.name](*filled, **properties)
        self.built[term] = value
        return value


def number_names(roles: Roles, shapes: Shapes) -> list[str]:
    """The names of the proof's variables: `name_index` for each element of a constant, `kind_name` for each open
    property.
    """
    names = [f"{name}_{index}" for name, shape in shapes.constants.items() for index in range(prod(shape))]
    return names + [f"{kind}_{name}" for (kind, name), words in roles.properties.items() if not words]


def property_choices(roles: Roles) -> Iterator[dict[tuple[str, str], Any]]:
    """All combinations of values of the properties that a pattern leaves open and that are strings."""
    words = {key: values for key, values in roles.properties.items() if values}
    for chosen in product(*words.values()):
        yield dict(zip(words, chosen, strict=True))


def instance_of(
    roles: Roles, term: Term, element: Attribute, shapes: Shapes, values: Mapping[str, float], properties: Mapping[tuple[str, str], Any]
) -> Instance | None:
    """The model of an alternative; None if its operations do not accept the element type or the shapes.

    The arguments are those of `InstanceBuilder`; `term` is the alternative.
    """
    try:
        return InstanceBuilder(roles, element, shapes, values, properties).build(term)
    except (InferenceError, OverflowError):
        return None


def roles_of(rule: FusionRule) -> Roles:
    """The roles of the variables of a rule."""
    return Roles(rule.term)
