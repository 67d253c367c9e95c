"""Operands of operations that have many of them are replaced one by one."""

from __future__ import annotations

import pytest

from moir.dialects.element_types import f32
from moir.dialects.framework import operation_class
from moir.dialects.operand_list import WIDE
from moir.dialects.opset import operation
from moir.dialects.properties import integer_attribute
from moir.dialects.shapes import tensor


def made(count: int):
    """A Concat of a Parameter `count` times, and another Parameter."""
    a, b = (operation("opset1.Parameter").create(result_types=[tensor((1,), f32)]).results[0] for _ in range(2))
    concat = operation("opset1.Concat").create(
        operands=[a] * count, properties={"axis": integer_attribute(0)}, result_types=[tensor((count,), f32)]
    )
    return concat, a, b


@pytest.mark.parametrize("count", [3, WIDE, 3 * WIDE])
def test_an_operand_is_replaced(count: int) -> None:
    concat, a, b = made(count)
    twin, *_ = made(count)
    twin.operands = concat.operands
    assert concat.operands == twin.operands
    assert hash(concat.operands) == hash(twin.operands)
    concat.operands[1] = b
    assert list(concat.operands) == [a, b, *[a] * (count - 2)]
    assert concat.operands != twin.operands
    assert tuple(concat.operands[:2]) == (a, b)
    assert isinstance(concat.operands[:2], tuple)
    assert [(use.operation, use.index) for use in b.uses] == [(concat, 1)]
    a.replace_all_uses_with(b)
    assert list(concat.operands) == [b] * count
    assert sorted(use.index for use in b.uses if use.operation is concat) == list(range(count))
    concat.drop_all_references()
    twin.drop_all_references()
    assert not list(a.uses)
    assert not list(b.uses)


def test_replacing_one_operand_of_many_copies_none_of_the_others() -> None:
    concat, _, b = made(WIDE)
    concat.operands[0] = b
    before = concat._operands
    concat.operands[1] = b
    assert concat._operands is before


def test_clones_and_new_operands() -> None:
    concat, a, b = made(2 * WIDE)
    concat.operands[5] = b
    assert list(concat.clone().operands) == list(concat.operands)
    concat.operands = [a, b]
    assert tuple(concat.operands) == (a, b)


def test_operations_of_frameworks_have_it_too() -> None:
    _, a, b = made(1)
    node = operation_class("tf", "AddN").create(operands=[a] * WIDE, result_types=[a.type])
    node.operands[7] = b
    assert [operand is b for operand in node.operands].index(True) == 7
