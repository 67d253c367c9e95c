"""Einsum written as a product of matrices: the runtime computes the same before and after."""

from __future__ import annotations

import pytest

from tests.numerical.passes.module_lines import check, inputs, numbers

SIZES = {"a": 2, "b": 3, "c": 4, "d": 5, "e": 6, "f": 2}


def sizes_of(labels: str) -> tuple[int, ...]:
    return tuple(SIZES[label] for label in labels)


def typed(labels: str) -> str:
    """The type of an input whose first two dimensions are unknown."""
    return "".join(f"{'?' if number < 2 else SIZES[label]}x" for number, label in enumerate(labels)) + "f32"


WEIGHTS = {
    "abc,cd->abd": {"MatMul": 1},
    "abc,dc->abd": {"MatMul": 1, "Transpose": 1},
    "abc,cde->abde": {"MatMul": 1, "Reshape": 1},
    "abcd,cde->abe": {"MatMul": 1, "Reshape": 1},
    "abcd,dce->abe": {"MatMul": 1, "Reshape": 2, "Transpose": 1},
    "abcd,cdef->abef": {"MatMul": 1, "Reshape": 2},
    "acb,cd->abd": {"Einsum": 1},
    "abc,cd->dab": {"Einsum": 1},
}
"""Equations of data and a constant, and the operations that are left before the folding of constants."""


@pytest.mark.parametrize("equation", WEIGHTS)
@pytest.mark.parametrize("exchanged", [False, True])
def test_products_with_constants(equation: str, exchanged: bool) -> None:
    terms, result = equation.split("->")
    data, weight = terms.split(",")
    text, order = (f"{weight},{data}->{result}", "%w, %x") if exchanged else (equation, "%x, %w")
    lines = f"""{inputs(typed(data))}
    %1 = opset7.Einsum({order}) {{equation = "{text}"}}
    opset1.Result(%1) {{name = "out"}}"""
    check("unfold-einsum", lines, WEIGHTS[equation], (sizes_of(data),), w=numbers(*sizes_of(weight)), tolerance=1e-4)


@pytest.mark.parametrize(
    ("equation", "transpositions"),
    [("aecd,abcd->acbe", 2), ("abcd,aecd->acbe", 2), ("acbe,aecd->abcd", 2), ("abc,acd->abd", 0), ("abc,acd->adb", 2)],
)
def test_products_of_computed_values(equation: str, transpositions: int) -> None:
    left, right = equation.split("->")[0].split(",")
    lines = f"""{inputs(typed(left), typed(right))}
    %1 = opset7.Einsum(%x, %y) {{equation = "{equation}"}}
    opset1.Result(%1) {{name = "out"}}"""
    expected = {"MatMul": 1, **({"Transpose": transpositions} if transpositions else {})}
    check("unfold-einsum", lines, expected, (sizes_of(left), sizes_of(right)), tolerance=1e-4)


@pytest.mark.parametrize("equation", ["ab,bc->b", "abc,cd->ad", "ab,cd->abcd", "abc,abd->abcd", "ab,b->a"])
def test_other_equations_stay(equation: str) -> None:
    left, right = equation.split("->")[0].split(",")
    lines = f"""{inputs(typed(left), typed(right))}
    %1 = opset7.Einsum(%x, %y) {{equation = "{equation}"}}
    opset1.Result(%1) {{name = "out"}}"""
    check("unfold-einsum", lines, {"Einsum": 1}, (sizes_of(left), sizes_of(right)), tolerance=1e-4)
