"""The order of the operations of a block."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import f32
from xdsl.ir import Block, Operation

from moir.analysis.order import LONGEST_CYCLE, sort_block
from moir.dialects import opset
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.properties import string_attribute
from moir.dialects.shapes import tensor
from moir.errors import ConversionError


def ordered(*operations: tuple[str, str]) -> list[str | None]:
    """The names of the operations of a sorted block, without its input.

    Args:
        operations: name and operand of each; one that is called `to …` is a Result, all others a Relu. The input is `x`.
    """
    made: dict[str, Operation] = {"x": Parameter.create(result_types=[tensor((2,), f32)])}
    for name, _ in operations:
        is_result = name.startswith("to ")
        made[name] = (Result if is_result else opset.newest("Relu")).create(result_types=[] if is_result else [tensor((2,), f32)])
        made[name].attributes["name"] = string_attribute(name)
    for name, operand in operations:
        made[name].operands = made[operand].results
    block = Block(made.values())
    sort_block(block)
    return [name_of(op) for op in block.ops][1:]


def test_an_operation_moves_after_what_it_uses_and_nothing_else_moves() -> None:
    assert ordered(("b", "a"), ("c", "x"), ("a", "x"), ("to b", "b")) == ["c", "a", "b", "to b"]


def test_outputs_keep_their_order() -> None:
    assert ordered(("to a", "a"), ("to x", "x"), ("a", "x")) == ["a", "to a", "to x"]


def test_a_cycle() -> None:
    with pytest.raises(ConversionError, match="the graph has a cycle: b -> a -> b"):
        ordered(("to x", "x"), ("to c", "c"), ("a", "b"), ("c", "b"), ("b", "a"))


def test_a_long_cycle_is_shown_in_part() -> None:
    length = LONGEST_CYCLE + 3
    with pytest.raises(ConversionError, match=r"cycle: .* -> … -> ") as caught:
        ordered(*((f"n{index}", f"n{(index + 1) % length}") for index in range(length)))
    assert str(caught.value).count(" -> ") == LONGEST_CYCLE
