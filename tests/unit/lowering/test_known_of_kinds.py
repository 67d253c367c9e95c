"""What the registration of a kind says: ranks of its operands, and how it computes with complex numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ComplexType, ModuleOp, f32
from xdsl.ir import Block, Region, SSAValue

import moir.lowering
from moir.dialects.framework import COMPLEX_OPERANDS, FrameworkOp, operation_class
from moir.dialects.properties import value_of
from moir.dialects.shapes import UNKNOWN
from moir.errors import UnsupportedOperationError
from moir.frameworks import load
from moir.lowering.complex.check import check_complex, mark_complex
from moir.lowering.complex.kinds import PAIRS, PAIRS_FROM_REAL, PAIRS_TO_REAL, Complex, all_complex, by_function, by_parts
from moir.lowering.ranks import as_result, fixed
from moir.lowering.table import LoweringTable


def same(x: SSAValue) -> SSAValue:
    """The operand."""
    return x


same.__module__ = "moir.made"


def table_of(**kinds: Complex | None) -> LoweringTable:
    """A table whose kinds compute with complex numbers as the arguments say."""
    table = LoweringTable("made")
    for kind, known in kinds.items():
        table.lowers(kind, complex=known)(same)
    return table


def node(kind: str, *operands: FrameworkOp, is_complex: bool = False) -> FrameworkOp:
    """An operation of the results of others; `is_complex`: its type is an attribute."""
    properties = {"T": ComplexType(f32)} if is_complex else {}
    return operation_class("made", kind).create(
        operands=[each.results[0] for each in operands], properties=properties, result_types=[UNKNOWN]
    )


def module_of(operations: Sequence[FrameworkOp]) -> ModuleOp:
    """A module of operations."""
    return ModuleOp(Region(Block(operations)))


def marks(op: FrameworkOp) -> list[int] | None:
    """The indices of the operands that are marked as complex."""
    return list(value_of(op.properties[COMPLEX_OPERANDS])) if COMPLEX_OPERANDS in op.properties else None


def test_rows_and_functions_say_the_same() -> None:
    table = LoweringTable("made")
    table.lowers_each({"Abs Ceil": lambda op, x: op.Abs(x)}, rank=as_result, complex=PAIRS)
    table.lowers_each_node({"Cos": lambda node, op, x: op.convert(x, node.element(0))}, complex=by_function())
    table.lowers("Fill", rank=fixed(1, 0))(same)
    assert table.rank("Abs") is table.rank("Ceil") is as_result
    assert table.complex("Ceil") is PAIRS
    assert table.rank("Cos") is None
    assert table.complex("Fill") is None
    assert table.rank("None of these") is None


def test_an_operation_with_complex_types_needs_a_kind_that_computes_with_them() -> None:
    table = table_of(Abs=PAIRS, Sort=None)
    check_complex(table, module_of([node("Abs", is_complex=True), node("Sort")]))
    with pytest.raises(UnsupportedOperationError, match="complex numbers"):
        check_complex(table, module_of([node("Sort", is_complex=True)]))


def test_lowerings_of_extensions_take_complex_tensors() -> None:
    table = table_of(Sort=None)
    operation = node("Sort", is_complex=True)
    with table.extended():
        table.lowers("Sort")(lambda op, x: op.Negative(x))
        check_complex(table, module_of([operation]))
    with pytest.raises(UnsupportedOperationError):
        check_complex(table, operation)


def test_complex_results_mark_their_uses() -> None:
    table = table_of(Read=None, Complex=PAIRS_FROM_REAL, Neg=by_parts(), Abs=PAIRS_TO_REAL, Add=by_parts(accepts=all_complex))
    x, z = node("Read"), node("Complex")
    negative, size = node("Neg", z), node("Abs", z)
    total, rest = node("Add", z, negative), node("Read", size)
    mark_complex(table, module_of([x, z, negative, size, total, rest]))
    assert [marks(each) for each in (x, z, negative, size, total, rest)] == [None, None, [0], [0], [0, 1], None]


@pytest.mark.parametrize("kind", ["Complex", "Read", "Add"])
def test_what_does_not_take_complex_operands_is_refused(kind: str) -> None:
    table = table_of(Read=None, Complex=PAIRS_FROM_REAL, Add=by_parts(accepts=all_complex))
    x, z = node("Read"), node("Complex")
    with pytest.raises(UnsupportedOperationError, match="complex numbers"):
        mark_complex(table, module_of([x, z, node(kind, z, x)]))


def test_formulas_exist() -> None:
    named = re.compile(r'(?:by_formula|with_handler)\("(\w[\w.]*:\w+)"')
    texts = [path.read_text(encoding="utf-8") for path in Path(moir.lowering.__path__[0]).rglob("*.py")]
    formulas = {each for text in texts for each in named.findall(text)}
    assert {"tensorflow.complex.matrices:matrix_product", "pytorch.complex.elements:ones"} <= formulas
    assert all(callable(load(f"moir.lowering.{each}")) for each in formulas)
