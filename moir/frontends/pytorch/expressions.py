"""Sizes as expressions of symbols, in SymPy's constructor form: parsed into calls, never evaluated by Python.

    Mul(Integer(16), Symbol('s77', positive=True, integer=True))  ->  Call("Mul", (16, Symbol("s77")))

`bounds_of` gives the smallest and the largest value from those of the symbols.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from typing import NamedTuple, TypeAlias

LARGEST = 2**63 - 1
"""The value of a bound that does not exist."""
_LONGEST_TEXT = 20_000
_DEEPEST = 50

_TOKEN = re.compile(r"\s*(?:(?P<number>-?\d{1,19})|(?P<name>[A-Za-z_]\w*)|(?P<text>'[^']*')|(?P<sign>[(),=]))")


class Symbol(NamedTuple):
    """A symbol of a size."""

    name: str


class Call(NamedTuple):
    """A function of expressions, such as `Add`."""

    function: str
    operands: tuple[Expression, ...]


Expression: TypeAlias = "int | Symbol | Call"
Bounds: TypeAlias = "tuple[int, int]"


def parse(text: str) -> Expression:
    """Parse an expression. Raises ValueError if the text is none."""
    if len(text) > _LONGEST_TEXT:
        raise ValueError("an expression of more than 20,000 characters")
    tokens: list[tuple[str, str]] = []
    position = 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"{text[:80]!r} is no expression of sizes")
        tokens.append((match.lastgroup or "", match.group().strip()))
        position = match.end()
    expression, rest = _expression(tokens, 0, 0)
    if rest != len(tokens):
        raise ValueError(f"{text[:80]!r} is no expression of sizes")
    return expression


def _expression(tokens: list[tuple[str, str]], at: int, depth: int) -> tuple[Expression, int]:
    """The expression that begins at a token, and the index of the token after it."""
    kind, text = tokens[at] if at < len(tokens) else ("", "")
    if kind == "number":
        return int(text), at + 1
    if kind != "name" or at + 1 >= len(tokens) or tokens[at + 1][1] != "(" or depth > _DEEPEST:
        raise ValueError(f"{text!r} is no function of sizes")
    operands: list[Expression] = []
    name = ""
    at += 2
    while at < len(tokens) and tokens[at][1] != ")":
        if tokens[at][1] == ",":
            at += 1
        elif tokens[at][0] == "text":
            name, at = tokens[at][1][1:-1], at + 1
        elif at + 1 < len(tokens) and tokens[at + 1][1] == "=":
            # SymPy's assumptions about a symbol, such as positive=True.
            at += 3
        else:
            operand, at = _expression(tokens, at, depth + 1)
            operands.append(operand)
    if at >= len(tokens):
        raise ValueError("an expression without its last bracket")
    if text == "Symbol" and name:
        return Symbol(name), at + 1
    if name:
        raise ValueError(f"{text!r} is no function of sizes")
    if text == "Integer" and len(operands) == 1:
        return operands[0], at + 1
    return Call(text, tuple(operands)), at + 1


def bounds_of(expression: Expression, ranges: Mapping[str, Bounds]) -> Bounds:
    """The smallest and the largest value of a size; 0 and `LARGEST` if they do not follow from its functions."""
    if isinstance(expression, int):
        return (expression, expression)
    if isinstance(expression, Symbol):
        return ranges.get(expression.name, (0, LARGEST))
    operands = [bounds_of(each, ranges) for each in expression.operands]
    if expression.function == "Add" and operands:
        return _limited(sum(low for low, _ in operands), sum(high for _, high in operands))
    if expression.function == "Mul" and operands and all(low >= 0 for low, _ in operands):
        return _limited(prod(low for low, _ in operands), prod(high for _, high in operands))
    if expression.function == "FloorDiv" and len(operands) == 2 and operands[1][0] > 0 and operands[0][0] >= 0:
        (low, high), (least, most) = operands
        return _limited(low // most, high // least)
    return (0, LARGEST)


def _limited(low: int, high: int) -> Bounds:
    return (max(low, 0), min(high, LARGEST))
