"""Products and inverses of matrices, Einstein summation, attention: types and values against OpenVINO Runtime."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from xdsl.utils.exceptions import VerifyException

from tests.unit.dialects.opset.cases import (
    GENERATOR,
    REALS,
    SHAPES,
    Case,
    assert_same_types,
    check_types,
    check_values,
    floating,
    operations,
)
from tests.unit.dialects.opset.runtime_reference import moir_operation

TYPES: list[Case] = [
    *[("opset14.Inverse", [("f32", shape)], {}) for shape in SHAPES],
    *[
        ("opset13.ScaledDotProductAttention", [("f32", query), ("f32", key), ("f32", value)], {})
        for query in ((1, 2, 4, 8), (2, 4, 8), (4, 8), (-1, 2, -1, 8), (2, 1, 4, 8), (3, 4, 7), (-1, 4, -1))
        for key in ((1, 2, 5, 8), (5, 8), (-1, 2, -1, 8), (1, 3, 5, 8), None)
        for value in ((1, 2, 5, 8), (2, 5, 3), (5, 3), None, (2, 6, 3), (-1, -1, 3))
    ],
    *[
        ("opset13.ScaledDotProductAttention", [("f32", (-1, 2, -1, 8)), ("f32", (1, 2, 5, 8)), ("f32", (2, 5, 3)), (element, mask)], {})
        for element in ("f32", "boolean", "i32")
        for mask in (None, (), (5,), (4, 5), (1, 5), (2, 4, 5), (-1, -1), (3, 4), (3, 1, 4, 5))
    ],
    *[
        ("opset13.ScaledDotProductAttention", [("f32", (2, 4, 8))] * 3 + [("f32", (4, 4)), ("f32", scale)], {"causal": True})
        for scale in ((), (1,), (2,), None)
    ],
    *[
        ("opset7.Einsum", [("f32", a), ("f32", b)], {"equation": equation})
        for equation in ("ij,jk->ik", "ij,jk", "...ij,...jk->...ik", "i...,j...->ij...", "Ab,bA->", "...,...->...", "i, j->ij", "i.,j->i")
        for a, b in itertools.product([(2, 3), (3, 2), (-1, 3), (1, 2, 3), ()], repeat=2)
    ],
    *[
        ("opset7.Einsum", [("f32", shape)], {"equation": equation})
        for equation in ("ii->i", "ij->ji", "ba", "a...b->...", "ij->k", "ij->ij...", "->", "i,j->ij")
        for shape in ((3, 3), (1, 3), (2, -1), (), (1, 2, 3), None)
    ],
]


@pytest.mark.parametrize("op", operations(TYPES))
def test_types_are_those_of_the_runtime(op: str) -> None:
    check_types(op, TYPES)


VALUES: list[Case] = [
    *[
        ("opset1.MatMul", [a, b], {"transpose_a": transpose_a, "transpose_b": transpose_b})
        for a, b, transpose_a, transpose_b in [
            (REALS, REALS[0].T, False, False),
            (REALS, REALS, False, True),
            (REALS, REALS, True, False),
            (REALS[0, 0], REALS[0], True, True),
            (REALS, REALS[0, 0], False, True),
            (REALS[0, 0], REALS[0, 0], False, False),
        ]
    ],
    ("opset14.Inverse", [GENERATOR.normal(size=(2, 3, 3)).astype(np.float32) + 3 * np.eye(3, dtype=np.float32)], {}),
    *[
        ("opset7.Einsum", [REALS, REALS[:, :, 0]], {"equation": equation})
        for equation in ("abc,ab->c", "abc,ab", "abc,ab->cba", "a...,ab->...b", "...c,ab->", "...,ab->...ab")
    ],
    *[
        ("opset13.ScaledDotProductAttention", [REALS, REALS[:, :2], REALS[:, :2] + 1, *more], {"causal": causal})
        for more, causal in [
            ([], False),
            ([], True),
            ([GENERATOR.normal(size=(3, 2)).astype(np.float32)], False),
            ([np.array([[True, False], [True, True], [False, True]])], False),
            ([GENERATOR.normal(size=(3, 2)).astype(np.float32), floating(0.3)], False),
        ]
    ],
    (
        "opset13.ScaledDotProductAttention",
        [
            *[GENERATOR.normal(size=(1, 2, tokens, 4)).astype(np.float32) for tokens in (3, 5, 5)],
            GENERATOR.normal(size=(3, 5)).astype(np.float32),
            floating(0.3),
            GENERATOR.normal(size=(1, 2, 1, 1)).astype(np.float32),
        ],
        {"causal": False},
    ),
]


@pytest.mark.parametrize("op", operations(VALUES))
def test_values_are_those_of_the_runtime(op: str) -> None:
    check_values(op, VALUES)


def test_matrix_products_have_the_shapes_of_the_runtime() -> None:
    for a, b in itertools.product(SHAPES, SHAPES):
        if a == () or b == ():
            continue
        for transpose_a, transpose_b in itertools.product((False, True), repeat=2):
            assert_same_types("opset1.MatMul", [("f32", a), ("f32", b)], {"transpose_a": transpose_a, "transpose_b": transpose_b})


@pytest.mark.parametrize(
    ("op", "operands", "properties", "message"),
    [
        ("opset7.Einsum", [("f32", (3, 3))], {"equation": "ii"}, "spelled out as 'ii->'"),
        ("opset7.Einsum", [("f32", (3,))], {"equation": "i,j->ij"}, "of 2 operands"),
        ("opset7.Einsum", [("f32", (3,))], {"equation": "i1"}, "something other than letters"),
    ],
)
def test_verifiers_refuse(op: str, operands: list[Any], properties: dict[str, Any], message: str) -> None:
    instance = moir_operation(op, operands, properties)
    with pytest.raises(VerifyException, match=message):
        instance.verify(verify_nested_ops=False)
