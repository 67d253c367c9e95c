"""Sizes as expressions of symbols, as SymPy writes them: parsed into calls, never evaluated by Python.

    Mul(Integer(16), Symbol('s77', positive=True, integer=True))  ->  Call("Mul", (16, Symbol("s77")))
    16*s77 - 1                                                    ->  Call("Add", (Call("Mul", …), -1)), by torch 2.5

`bounds_of` gives the smallest and the largest value from those of the symbols.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from typing import NamedTuple, TypeAlias

LARGEST = 2**63 - 1
"""The largest number of a bound; it stands for no bound."""
_LONGEST_TEXT = 20_000
_DEEPEST = 50

_TOKEN = re.compile(r"\s*(?:(?P<number>\d{1,19})|(?P<name>[A-Za-z_]\w*)|(?P<text>'[^']*')|(?P<sign>\*\*|//|[-+*/%(),=]))")

_OPERATORS = {
    **{"+": (1, "Add"), "-": (1, "Add"), "**": (4, "Pow")},
    **{"*": (2, "Mul"), "/": (2, "IntTrueDiv"), "//": (2, "FloorDiv"), "%": (2, "Mod")},
}
"""Operators between expressions, with their precedence and the function that they stand for."""
_SIGN = 3
"""The precedence of a minus sign before an expression."""


class Symbol(NamedTuple):
    """A symbol of a size."""

    name: str


class Call(NamedTuple):
    """A call of a function, such as `Add`, on expressions."""

    function: str
    operands: tuple[Expression, ...]


Expression: TypeAlias = "int | Symbol | Call"
Bounds: TypeAlias = "tuple[int, int]"


def parse(text: str) -> Expression:
    """Parse an expression. Raises ValueError if the text is not an expression."""
    if len(text) > _LONGEST_TEXT:
        raise ValueError("an expression of more than 20,000 characters")
    tokens: list[tuple[str, str]] = []
    position = 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"{text[:80]!r} is not an expression of sizes")
        tokens.append((match.lastgroup or "", match.group().strip()))
        position = match.end()
    expression, rest = _expression(tokens, 0, 0)
    if rest != len(tokens):
        raise ValueError(f"{text[:80]!r} is not an expression of sizes")
    return expression


def _expression(tokens: list[tuple[str, str]], at: int, depth: int, least: int = 0) -> tuple[Expression, int]:
    """Parse the expression that begins at a token; returns it and the index of the token after it.

    Args:
        tokens: kinds and texts.
        at: the index of the first token.
        depth: the number of expressions around it.
        least: the lowest precedence of an operator that belongs to it.
    """
    if depth > _DEEPEST:
        raise ValueError("an expression of too many levels")
    left, at = _operand(tokens, at, depth)
    deeper = 0
    while at < len(tokens) and tokens[at][1] in _OPERATORS:
        sign = tokens[at][1]
        precedence, function = _OPERATORS[sign]
        if precedence < least:
            break
        # What follows belongs to the operand on the right if it binds more closely; powers begin on the right.
        right, at = _expression(tokens, at + 1, depth + 1, precedence + (sign != "**"))
        right = negative(right) if sign == "-" else right
        if isinstance(left, Call) and left.function == function and function in ("Add", "Mul"):
            left = Call(function, (*left.operands, right))
            continue
        left, deeper = Call(function, (left, right)), deeper + 1
        if deeper > _DEEPEST:
            raise ValueError("an expression of too many levels")
    return left, at


def _operand(tokens: list[tuple[str, str]], at: int, depth: int) -> tuple[Expression, int]:
    """Parse the operand at a token: a number, a symbol, a call, an expression in brackets or with a sign.

    Returns it and the index of the token after it. `depth` is the number of expressions around it. Raises ValueError
    for any other token.
    """
    kind, text = tokens[at] if at < len(tokens) else ("", "")
    if kind == "number":
        return int(text), at + 1
    if text == "-":
        operand, at = _expression(tokens, at + 1, depth + 1, _SIGN)
        return negative(operand), at
    if text == "(":
        operand, at = _expression(tokens, at + 1, depth + 1)
        if at >= len(tokens) or tokens[at][1] != ")":
            raise ValueError("an expression without its last bracket")
        return operand, at + 1
    if kind != "name":
        raise ValueError(f"{text!r} is not an expression of sizes")
    if at + 1 >= len(tokens) or tokens[at + 1][1] != "(":
        return Symbol(text), at + 1
    return _call(tokens, at, depth)


def _call(tokens: list[tuple[str, str]], at: int, depth: int) -> tuple[Expression, int]:
    """Parse the call that begins at a name and an opening bracket; returns it and the index of the token after it.

    `depth` is the number of expressions around it. Raises ValueError if the closing bracket is missing.
    """
    text = tokens[at][1]
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
        raise ValueError(f"{text!r} is not a function of sizes")
    if text == "Integer" and len(operands) == 1:
        return operands[0], at + 1
    return Call(text, tuple(operands)), at + 1


def negative(expression: Expression) -> Expression:
    """The negative of an expression."""
    return -expression if isinstance(expression, int) else Call("Mul", (-1, expression))


def bounds_of(expression: Expression, ranges: Mapping[str, Bounds]) -> Bounds:
    """The smallest and the largest value of a size, from those of its symbols; 0 and `LARGEST` if they cannot be
    derived.
    """
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
