"""Values of the elementwise, reduction, matrix, sequence, generation and infrastructure operations: as the runtime computes them, and
with symbols in them."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from moir.analysis.known_values import evaluate as evaluate_operation
from moir.dialects.opset import FAMILIES
from moir.dialects.symbols import Symbol
from tests.unit.dialects.opset.runtime_reference import evaluate_with_moir, evaluate_with_runtime, moir_operation


def integers(*values: int) -> np.ndarray[Any, Any]:
    return np.array(values, np.int64)


def integer(value: int) -> np.ndarray[Any, Any]:
    return np.array(value, np.int64)


def floating(value: float) -> np.ndarray[Any, Any]:
    return np.array(value, np.float32)


GENERATOR = np.random.default_rng(20240601)
REALS = GENERATOR.normal(0, 2, (2, 3, 4)).astype(np.float32)
SPECIAL = np.array([-np.inf, -3.5, -2.5, -0.5, -0.0, 0.0, 0.5, 1.5, 2.5, 70.0, np.inf, np.nan], np.float32)
UNIT = GENERATOR.uniform(-0.99, 0.99, (3, 5)).astype(np.float32)
INTEGERS = np.array([[-7, -6, -1, 0, 1], [5, 6, 7, 8, 9]], np.int32)
DIVISORS = np.array([[2, -4, 3, 5, -2], [-3, 4, -5, 3, 2]], np.int32)
BOOLEANS = np.array([[True, False], [False, True]])
ROW = np.array([True, False])

UNARY_DOMAINS = {
    **dict.fromkeys(("Acos", "Asin", "Atanh"), UNIT),
    "Acosh": np.abs(REALS) + 1,
    # The CPU plugin approximates it less well near -1 and 1.
    "ErfInv": UNIT / 2,
    **dict.fromkeys(("Log", "Sqrt"), np.abs(REALS) + 0.1),
}
VALUE_CASES: list[tuple[str, list[Any], dict[str, Any]]] = [
    *[(name, [UNARY_DOMAINS.get(name.partition(".")[2], REALS)], {}) for name in FAMILIES["elementwise"].split()],
    *[(f"opset1.{kind}", [SPECIAL], {}) for kind in ("Abs", "Ceiling", "Floor", "Negative", "Tanh")],
    # The CPU plugin makes 0 or infinity of a NaN here.
    *[(f"opset1.{kind}", [SPECIAL[:-1]], {}) for kind in ("Relu", "Exp")],
    *[(f"opset1.{kind}", [INTEGERS], {}) for kind in ("Abs", "Negative", "Sign", "Floor", "Relu")],
    *[("opset5.Round", [SPECIAL], {"mode": mode}) for mode in ("half_to_even", "half_away_from_zero")],
    *[
        (name, [REALS], {})
        for name in FAMILIES["activation"].split()
        if name.partition(".")[2] not in ("Clamp", "Elu", "HardSigmoid", "PRelu", "Selu")
    ],
    ("opset7.Gelu", [REALS], {"approximation_mode": "TANH"}),
    ("opset8.Softmax", [REALS * 50], {"axis": -2}),
    ("opset5.LogSoftmax", [REALS * 50], {"axis": 0}),
    ("opset4.Swish", [REALS, floating(1.7)], {}),
    ("opset1.Elu", [REALS], {"alpha": 0.7}),
    ("opset1.Clamp", [REALS], {"min": -1.5, "max": 0.5}),
    ("opset1.Clamp", [INTEGERS], {"min": -2.5, "max": 6.5}),
    ("opset1.HardSigmoid", [REALS, floating(0.3), floating(0.4)], {}),
    ("opset1.Selu", [REALS, np.array([1.2], np.float32), np.array([1.1], np.float32)], {}),
    ("opset1.PRelu", [REALS, np.array([0.1, 0.2, 0.3], np.float32)], {}),
    ("opset1.PRelu", [REALS, np.array([0.1], np.float32)], {}),
    ("opset1.PRelu", [REALS, GENERATOR.uniform(0, 1, (1, 3, 1)).astype(np.float32)], {}),
    *[(name, [REALS, REALS[:1, ::-1] * 0.9 + 0.1], {}) for name in FAMILIES["arithmetic"].split() if "Power" not in name],
    *[(name, [INTEGERS, DIVISORS], {}) for name in FAMILIES["arithmetic"].split() if "Power" not in name],
    ("opset1.Power", [np.abs(REALS), REALS], {}),
    ("opset1.Power", [REALS, floating(2)], {}),
    ("opset1.Power", [INTEGERS, np.array([0, 1, 2, 3, 2], np.int32)], {}),
    *[(name, [INTEGERS, DIVISORS], {}) for name in FAMILIES["comparison"].split() if "Is" not in name],
    *[(name, [REALS, REALS[0]], {}) for name in FAMILIES["comparison"].split() if "Is" not in name],
    *[(name, [SPECIAL], {}) for name in FAMILIES["comparison"].split() if "Is" in name],
    ("opset10.IsInf", [SPECIAL], {"detect_negative": False}),
    ("opset10.IsInf", [SPECIAL], {"detect_positive": False}),
    *[(name, [BOOLEANS, ROW], {}) for name in FAMILIES["logical"].split() if "Not" not in name],
    ("opset1.LogicalNot", [BOOLEANS], {}),
    *[(f"opset13.Bitwise{kind}", [INTEGERS, DIVISORS], {}) for kind in ("And", "Or", "Xor")],
    *[(f"opset13.Bitwise{kind}", [BOOLEANS, ROW], {}) for kind in ("And", "Or", "Xor")],
    *[("opset13.BitwiseNot", [data], {}) for data in (INTEGERS, BOOLEANS, INTEGERS.astype(np.uint8))],
    *[(f"opset15.Bitwise{side}Shift", [INTEGERS, np.array([0, 1, 2, 3, 30], np.int32)], {}) for side in ("Left", "Right")],
    *[
        (name, [BOOLEANS if "Logical" in name else REALS, axes], {"keep_dims": keep_dims})
        for name in FAMILIES["reduction"].split()
        for axes in (integers(1), integers(-1, 0), integer(1))
        for keep_dims in (True, False)
    ],
    *[(name, [REALS, integers()], {"keep_dims": True}) for name in FAMILIES["reduction"].split() if "Logical" not in name],
    *[(f"opset1.Reduce{kind}", [INTEGERS, integers(1)], {}) for kind in ("Max", "Min", "Prod", "Sum")],
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
    *[
        ("opset3.CumSum", [data, axis], {"exclusive": exclusive, "reverse": reverse})
        for data in (REALS, INTEGERS)
        for axis in (integer(1), integer(-1))
        for exclusive, reverse in itertools.product((False, True), repeat=2)
    ],
    *[
        (op, [np.array([[0, 3], [1, 2]], np.int32), integer(4), floating(2), floating(-1)], {"axis": axis})
        for op in ("opset1.OneHot", "opset16.OneHot")
        for axis in (-1, 0, 1)
    ],
    ("opset1.OneHot", [np.array([0, 7], np.int64), integer(4), floating(2), floating(-1)], {"axis": -1}),
    (
        "opset16.OneHot",
        [np.array([0, -1, -9], np.int64), integer(4), integer(2), integer(-1)],
        {"axis": 0, "negative_indices_mode": "normalize"},
    ),
    *[("opset9.Eye", [integer(3), integer(4), integer(k)], {"output_type": "f32"}) for k in (-1, 0, 2, 9)],
    ("opset9.Eye", [integer(2), integer(2), integer(0), integers(2, 1)], {"output_type": "i32"}),
    ("opset4.Range", [integer(1), integer(9), integer(3)], {"output_type": "i64"}),
    ("opset4.Range", [integer(9), integer(1), integer(-3)], {"output_type": "i32"}),
    ("opset4.Range", [floating(0.5), floating(2), floating(0.3)], {"output_type": "f32"}),
    ("opset4.Range", [floating(1.9), floating(7.9), floating(2.9)], {"output_type": "i64"}),
    ("opset1.Convert", [np.array([1.7, -1.7, 0.0, 2.5, -0.5], np.float32)], {"destination_type": "i32"}),
    ("opset1.Convert", [np.array([1.7, 0.0, -0.5], np.float32)], {"destination_type": "boolean"}),
    ("opset1.Convert", [np.array([300, -1, 5], np.int32)], {"destination_type": "u8"}),
    ("opset1.Convert", [REALS], {"destination_type": "f16"}),
    # What bfloat16 has no place for the CPU plugin cuts off where others round.
    ("opset1.Convert", [np.array([1.5, -2.25, 100], np.float32)], {"destination_type": "bf16"}),
    ("opset1.Convert", [BOOLEANS], {"destination_type": "f32"}),
    ("opset1.ConvertLike", [REALS, INTEGERS], {}),
    ("opset16.Identity", [REALS], {}),
]

ALL_CONSTANT = {"opset1.Divide", "opset4.Range"}
"""Operations whose kernels in the CPU plugin differ from the specification where the runtime's folding of constants does not: the quotient
of integers is truncated whatever `m_pythondiv` says, and the operands of a range of integers are rounded, not truncated."""


@pytest.mark.parametrize("op", sorted({op for op, _, _ in VALUE_CASES}))
def test_values_are_those_of_the_runtime(op: str) -> None:
    for _, arrays, properties in (case for case in VALUE_CASES if case[0] == op):
        (expected,) = evaluate_with_runtime(op, arrays, properties, constants=range(len(arrays)) if op in ALL_CONSTANT else None)
        (found,) = evaluate_with_moir(op, arrays, properties)
        assert found.shape == expected.shape
        assert found.dtype == expected.dtype
        if found.dtype.kind in "biu":
            np.testing.assert_array_equal(found, expected, err_msg=f"{op} {properties}")
        else:
            np.testing.assert_allclose(
                found.astype(np.float64), expected.astype(np.float64), rtol=2e-5, atol=2e-6, err_msg=f"{op} {properties}"
            )


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_narrow_floats_are_reckoned_with_in_float32(dtype: Any) -> None:
    data = np.full((600,), 7.25, dtype)
    (total,) = evaluate_with_moir("opset1.ReduceSum", [data, integers(0)], {})
    assert total.dtype == np.dtype(dtype)
    assert total == np.array(4350, dtype)
    (product,) = evaluate_with_moir("opset1.Multiply", [data[:1], data[:1]], {})
    assert product == np.array([52.5625]).astype(dtype)


def evaluated(op: str, arrays: list[Any], properties: dict[str, Any] | None = None, element: str = "i64") -> list[Any]:
    """Entries of the result for arrays that may have symbols in them."""
    operands = [(element, np.shape(array)) if np.asarray(array).dtype == object else np.asarray(array) for array in arrays]
    instance = moir_operation(op, operands, properties or {})
    results = evaluate_operation(instance, [np.asarray(array) for array in arrays])
    assert results is not None
    return results[0].ravel().tolist()


def test_symbols_pass_through_arithmetic() -> None:
    size, other = Symbol(True), Symbol(True)
    shape = np.array([size, 4, other], object)
    assert evaluated("opset1.Multiply", [shape, integers(1, 2, 0)]) == [size, 8, 0]
    assert evaluated("opset1.Subtract", [shape, shape]) == [0, 0, 0]
    assert evaluated("opset1.Divide", [shape, integers(1, 3, 1)]) == [size, 1, other]
    assert evaluated("opset1.Maximum", [shape, integers(0, 9, -1)]) == [size, 9, other]
    assert evaluated("opset1.Minimum", [shape, integers(0, 9, -1)]) == [0, 4, -1]
    assert evaluated("opset1.Mod", [np.array([size, -7], object), integers(1, 3)]) == [0, -1]
    assert evaluated("opset1.FloorMod", [np.array([size, -7], object), integers(1, 3)]) == [0, 2]
    assert evaluated("opset1.Divide", [np.array([size, -7], object), integers(1, 2)]) == [size, -4]
    assert evaluated("opset1.Divide", [np.array([size, -7], object), integers(1, 2)], {"m_pythondiv": False}) == [size, -3]


def test_symbols_are_compared_as_sizes() -> None:
    size = Symbol(True)
    shape = np.array([size, size, 4], object)
    equal = evaluated("opset1.Equal", [shape, np.array([size, -1, 4], object)])
    assert equal == [True, False, True]
    assert evaluated("opset1.GreaterEqual", [shape, integers(0, -1, 5)]) == [True, True, False]
    less = evaluated("opset1.Less", [shape, integers(0, 7, 5)])
    assert less[0] is False
    assert isinstance(less[1], Symbol)
    assert less[2] is True


def test_unknown_truths_are_decided_where_the_other_operand_does() -> None:
    unknown = Symbol()
    truths = np.array([unknown, unknown, True], object)
    conjunction = evaluated("opset1.LogicalAnd", [truths, np.array([True, False, True])], element="boolean")
    disjunction = evaluated("opset1.LogicalOr", [truths, np.array([True, False, True])], element="boolean")
    assert conjunction == [unknown, False, True]
    assert disjunction == [True, unknown, True]
    assert evaluated("opset2.LogicalXor", [truths, truths], element="boolean") == [False, False, False]


def test_reductions_of_symbols() -> None:
    size = Symbol(True)
    shape = np.array([size, 0, 4], object)
    assert evaluated("opset1.ReduceProd", [shape, integers(0)]) == [0]
    assert evaluated("opset1.ReduceProd", [np.array([size, 1], object), integers(0)]) == [size]
    assert evaluated("opset1.ReduceMin", [shape, integers(0)]) == [0]
    assert evaluated("opset1.ReduceMax", [np.array([size, 0], object), integers(0)]) == [size]


def test_a_symbol_that_was_a_float_is_another_number_as_an_integer() -> None:
    size = Symbol(True)
    as_float, known = evaluated("opset1.Convert", [np.array([size, 3], object)], {"destination_type": "f32"})
    assert as_float is size
    assert known == 3.0
    assert isinstance(known, float)
    back, cut = evaluated("opset1.Convert", [np.array([size, 3.5], object)], {"destination_type": "i64"}, element="f32")
    assert isinstance(back, Symbol)
    assert back is not size
    assert back.dimension
    assert cut == 3


def test_integer_division_by_zero_is_left_to_the_runtime() -> None:
    for kind in ("Divide", "Mod", "FloorMod"):
        instance = moir_operation(f"opset1.{kind}", [integers(1), integers(0)], {})
        assert evaluate_operation(instance, [integers(1), integers(0)]) is None
