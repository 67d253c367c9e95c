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


def shardy_form(scanner: Scanner, kind: str, value: Callable[[], Value]) -> ShardyForm:
    """Read an operation of Shardy from the word after its name up to its region or its types; `value` reads a value."""
    form, lists = ShardyForm([], None), 0
    while scanner.word not in ("", ":", "}", "loc"):
        if scanner.word.startswith("%"):
            form.operands.append(value())
        elif scanner.word == "(" and kind in REGIONS and lists:
            return ShardyForm(form.operands, _arguments(scanner))
        elif scanner.word == "(":
            lists += 1
            scanner.advance()
        elif scanner.word in ("<", "[", "{"):
            scanner.skip_balanced()
        else:
            scanner.advance()
    return form


def _arguments(scanner: Scanner) -> list[tuple[str, Value]]:
    scanner.expect("(")
    arguments: list[tuple[str, Value]] = []
    while not scanner.takes(")"):
        name = scanner.advance()
        scanner.expect(":")
        argument = Value(type_of(scanner))
        argument.name = scanner.location_name()
        arguments.append((name, argument))
        scanner.takes(",")
    return arguments
