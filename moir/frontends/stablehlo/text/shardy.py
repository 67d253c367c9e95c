"""Operations of Shardy in their custom form, of which only the operands, the region and the types are read.

%1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<2x8xf32>
%1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<2x8xf32>
%1 = sdy.manual_computation(%0) in_shardings=[…] out_shardings=[…] manual_axes={"x"} (%a: tensor<1x8xf32>) { … } : …
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from moir.frontends.stablehlo.program import Value
from moir.frontends.stablehlo.text.scanner import Scanner
from moir.frontends.stablehlo.text.types import type_of

REGIONS = frozenset(("sdy.manual_computation", "sdy.named_computation"))
"""The operations with a region; the arguments of the region come before it in round brackets."""


class ShardyForm(NamedTuple):
    """The operands of an operation, and the arguments of its region by name; None if it has no region."""

    operands: list[Value]
    arguments: list[tuple[str, Value]] | None


def shardy_form(words: Scanner, kind: str, value: Callable[[], Value]) -> ShardyForm:
    """Read an operation of Shardy from the word after its name up to its region or its types; `value` reads a value."""
    form, lists = ShardyForm([], None), 0
    while words.word not in ("", ":", "}", "loc"):
        if words.word.startswith("%"):
            form.operands.append(value())
        elif words.word == "(" and kind in REGIONS and lists:
            return ShardyForm(form.operands, _arguments(words))
        elif words.word == "(":
            lists += 1
            words.advance()
        elif words.word in ("<", "[", "{"):
            words.skip_balanced()
        else:
            words.advance()
    return form


def _arguments(words: Scanner) -> list[tuple[str, Value]]:
    words.expect("(")
    arguments: list[tuple[str, Value]] = []
    while not words.takes(")"):
        name = words.advance()
        words.expect(":")
        argument = Value(type_of(words))
        argument.name = words.location_name()
        arguments.append((name, argument))
        words.takes(",")
    return arguments
