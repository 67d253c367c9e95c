"""Activation, arithmetic, bitwise, comparison, elementwise, logical, reduction, matrix, sequence, generation and infrastructure
operations: types and values as the runtime has them."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from runtime_reference import evaluate_with_moir, evaluate_with_runtime, infer_with_moir, infer_with_runtime, moir_operation
from xdsl.utils.exceptions import VerifyException

from moir.dialects.known_values import KnownValues, Symbol
from moir.dialects.known_values import evaluate as evaluate_operation
from moir.dialects.opset import FAMILIES, newest, operation
from moir.dialects.opset.base import OpsetOp
from moir.errors import InferenceError

SHAPES = [(), (1,), (3,), (-1,), (2, 3), (1, 3), (2, 1), (-1, 3), (2, -1), (-1, -1), (2, 2, 3), (-1, 1, 3), (4, -1, 1), (0, 3), None]


def integers(*values: int) -> np.ndarray[Any, Any]:
    return np.array(values, np.int64)


def integer(value: int) -> np.ndarray[Any, Any]:
    return np.array(value, np.int64)


def floating(value: float) -> np.ndarray[Any, Any]:
    return np.array(value, np.float32)


def outcome(infer: Any, op: str, operands: list[Any], properties: dict[str, Any]) -> Any:
    """What was inferred, or `refused`."""
    try:
        return infer(op, operands, properties)
    except (InferenceError, VerifyException, RuntimeError):
        return "refused"


def assert_same_types(op: str, operands: list[Any], properties: dict[str, Any]) -> None:
    expected = outcome(infer_with_runtime, op, operands, properties)
    assert outcome(infer_with_moir, op, operands, properties) == expected, (op, operands, properties)


@pytest.mark.parametrize("mode", ["numpy", "none", "pdpd"])
def test_shapes_broadcast_as_in_the_runtime(mode: str) -> None:
    for a, b in itertools.product(SHAPES, SHAPES):
        assert_same_types("opset1.Add", [("f32", a), ("f32", b)], {"auto_broadcast": mode})


def test_matrix_products_have_the_shapes_of_the_runtime() -> None:
    for a, b in itertools.product(SHAPES, SHAPES):
        if a == () or b == ():
            continue
        for transpose_a, transpose_b in itertools.product((False, True), repeat=2):
            assert_same_types("opset1.MatMul", [("f32", a), ("f32", b)], {"transpose_a": transpose_a, "transpose_b": transpose_b})


AXES = [
    integer(1),
    integers(),
    integers(0),
    integers(-1),
    integers(0, -1),
    integers(0, 0),
    integers(5),
    np.array([[0]]),
    *(("i64", shape) for shape in [(), (1,), (2,), (-1,), (0,), (1, 1), None]),
    ("f32", (1,)),
    ("dynamic", None),
]


@pytest.mark.parametrize("keep_dims", [True, False])
def test_reductions_have_the_shapes_of_the_runtime(keep_dims: bool) -> None:
    for shape, axes in itertools.product(SHAPES, AXES):
        assert_same_types("opset1.ReduceSum", [("f32", shape), axes], {"keep_dims": keep_dims})


ELEMENTWISE_KINDS = [
    name.partition(".")[2]
    for family in ("activation", "arithmetic", "bitwise", "comparison", "elementwise", "logical")
    for name in FAMILIES[family].split()
]
REQUIRED = {"Elu": {"alpha": 1.0}, "Clamp": {"min": 0.0, "max": 1.0}}
MORE_OPERANDS = {"PRelu": 1, "Selu": 2, "HardSigmoid": 2}
ACCEPTED_BY_THE_RUNTIME_ONLY = {("Clamp", "string"), ("BitwiseNot", "string")} | {
    ("LogicalNot", element) for element in ("string", "i32", "f16", "f32", "u4", "u64")
}
"""Element types the specification excludes and the runtime does not look at when it infers."""


@pytest.mark.parametrize("kind", sorted(set(ELEMENTWISE_KINDS)))
def test_elementwise_operations_take_the_element_types_of_the_runtime(kind: str) -> None:
    count = MORE_OPERANDS.get(kind, 1 if "auto_broadcast" in newest(kind).get_irdl_definition().properties else 0)
    for element in ("boolean", "i32", "u4", "u64", "f16", "f32", "string", "dynamic"):
        if (kind, element) in ACCEPTED_BY_THE_RUNTIME_ONLY or (
            element == "string" and newest(kind).name.startswith(("opset13", "opset15"))
        ):
            continue
        assert_same_types(newest(kind).name, [(element, (2, -1)), *[(element, ())] * count], REQUIRED.get(kind, {}))


F32 = ("f32", (2, 3))
INFERENCE_CASES: list[tuple[str, list[Any], dict[str, Any]]] = [
    *[("opset1.Add", [(a, (2,)), (b, (2,))], {}) for a, b in itertools.product(["f32", "i64", "dynamic"], repeat=2)],
    *[("opset1.Less", [(a, (2,)), (b, (2,))], {}) for a, b in itertools.product(["f32", "i64", "dynamic"], repeat=2)],
    *[("opset8.Softmax", [("f32", shape)], {"axis": axis}) for shape in SHAPES for axis in (-3, -1, 0, 1, 2)],
    *[("opset1.Softmax", [("f32", shape)], {"axis": axis}) for shape in SHAPES for axis in (0, 2)],
    *[("opset5.LogSoftmax", [("f32", shape)], {"axis": axis}) for shape in SHAPES for axis in (-2, 0)],
    *[("opset14.Inverse", [("f32", shape)], {}) for shape in SHAPES],
    *[("opset1.PRelu", [("f32", shape), ("f32", slope)], {}) for shape in SHAPES for slope in ((), (3,), (1, 3), None)],
    *[("opset4.Swish", [("f32", (2, 3)), ("f32", shape)], {}) for shape in ((), (1,), None)],
    ("opset4.Swish", [F32], {}),
    ("opset1.HardSigmoid", [F32, ("f32", ()), ("f32", (1,))], {}),
    ("opset1.Clamp", [F32], {"min": 2.0, "max": 1.0}),
    *[
        ("opset3.CumSum", [("f32", (2, -1)), axis], {})
        for axis in (integer(1), integers(0), ("i64", ()), ("i32", None), ("f32", ()), ("u8", ()))
    ],
    *[
        (op, [("i64", indices), depth, floating(1), floating(0)], {"axis": axis})
        for op in ("opset1.OneHot", "opset16.OneHot")
        for indices in ((), (3,), (2, -1), None)
        for depth in (integer(4), integers(4), integer(-1), integer(0), ("i64", ()), ("i64", None), floating(4))
        for axis in (-2, -1, 0, 1)
    ],
    ("opset1.OneHot", [("i64", (3,)), integer(4), ("f32", None), ("dynamic", None)], {"axis": 0}),
    ("opset1.OneHot", [("i64", (3,)), integer(4), ("f32", ()), ("i64", ())], {"axis": 0}),
    ("opset1.OneHot", [("i64", (3,)), integer(4), ("f32", (1,)), ("f32", ())], {"axis": 0}),
    ("opset1.OneHot", [("f32", (3,)), integer(4), ("f32", ()), ("f32", ())], {"axis": 0}),
    *[
        ("opset9.Eye", [rows, integer(4), integer(0), *batch], {"output_type": "f32"})
        for rows in (integer(3), integers(3), ("i64", ()), ("i64", (1,)), ("i64", None), ("i64", (2,)), ("f32", ()))
        for batch in ([], [integers(2)], [integers()], [("i64", (2,))], [("i64", (-1,))], [("i64", None)], [("i64", ())], [integer(2)])
    ],
    *[
        ("opset4.Range", [start, stop, step], {"output_type": output})
        for start in (integer(0), floating(0.5), ("i64", ()))
        for stop in (integer(5), floating(-5.5), integers(5), ("f32", None))
        for step in (integer(2), integer(-3), integer(0), floating(1.5), ("dynamic", ()), ("i64", (1,)))
        for output in ("i64", "f32")
    ],
    ("opset4.Range", [integer(0), floating(np.inf), floating(1)], {"output_type": "f32"}),
    ("opset4.Range", [integer(0), integer(5), integer(1)], {"output_type": "boolean"}),
    *[
        ("opset8.RandomUniform", [shape, minimum, floating(1)], {"output_type": "f32"})
        for shape in (integers(2, 3), integers(), ("i64", (2,)), ("i64", (-1,)), ("i32", None), ("i64", ()), integer(3), ("f32", (2,)))
        for minimum in (floating(0), floating(2), ("f32", (1,)), ("f32", None), ("f32", (2,)), ("i32", ()))
    ],
    *[("opset8.RandomUniform", [integers(2), (t, ()), (t, ())], {"output_type": t}) for t in ("i32", "i64", "f16", "u8", "boolean")],
    *[
        ("opset13.Multinomial", [("f32", shape), count], {"convert_type": "i64", "with_replacement": True, "log_probs": False})
        for shape in ((2, 4), (-1, 4), (4,), None, (2, -1))
        for count in (integers(3), integer(3), ("i64", ()), ("i64", None), integers(1, 2), ("f32", (1,)))
    ],
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
    *[
        ("opset6.ReadValue", initial, {"variable_id": "v", "variable_type": "f32", "variable_shape": shape})
        for initial in ([], [("f32", (2, 3))], [("f32", (4, 3))], [("i64", (2, 3))], [("f32", None)], [("f32", (2, 3, 1))])
        for shape in ("2,3", "?,3", "...", "", "1..8,3", "[2,3]", "-1,3")
    ],
    *[("opset1.Convert", [(source, None)], {"destination_type": "u4"}) for source in ("f32", "boolean", "dynamic")],
    ("opset1.ConvertLike", [("f32", (-1,)), ("i64", None)], {}),
    ("opset16.Identity", [("dynamic", None)], {}),
    *[("opset10.IsNaN", [("f16", shape)], {}) for shape in SHAPES],
]


@pytest.mark.parametrize("op", sorted({op for op, _, _ in INFERENCE_CASES}))
def test_types_are_those_of_the_runtime(op: str) -> None:
    for _, operands, properties in (case for case in INFERENCE_CASES if case[0] == op):
        assert_same_types(op, operands, properties)


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
    (as_float, half) = evaluated("opset1.Convert", [np.array([size, 3], object)], {"destination_type": "f32"})
    assert as_float is size
    assert half == 3.0
    (back, cut) = evaluated("opset1.Convert", [np.array([size, 3.5], object)], {"destination_type": "i64"}, element="f32")
    assert isinstance(back, Symbol)
    assert back is not size
    assert back.dimension
    assert cut == 3


def test_integer_division_by_zero_is_left_to_the_runtime() -> None:
    for kind in ("Divide", "Mod", "FloorMod"):
        instance = moir_operation(f"opset1.{kind}", [integers(1), integers(0)], {})
        assert evaluate_operation(instance, [integers(1), integers(0)]) is None


@pytest.mark.parametrize(
    ("op", "operands", "properties", "message"),
    [
        ("opset1.Clamp", [F32], {"min": 2.0, "max": 1.0}, "above max"),
        ("opset1.Softmax", [F32], {"axis": -1}, "negative"),
        ("opset7.Einsum", [("f32", (3, 3))], {"equation": "ii"}, "spelled out as 'ii->'"),
        ("opset7.Einsum", [("f32", (3,))], {"equation": "i,j->ij"}, "of 2 operands"),
        ("opset7.Einsum", [("f32", (3,))], {"equation": "i1"}, "something other than letters"),
        ("opset13.Multinomial", [F32, integers(1)], {"convert_type": "f32", "with_replacement": True, "log_probs": True}, "i32 or i64"),
        ("opset7.Gelu", [F32], {"approximation_mode": "erf"}, "not one of"),
    ],
)
def test_verifiers_refuse(op: str, operands: list[Any], properties: dict[str, Any], message: str) -> None:
    instance = moir_operation(op, operands, properties)
    with pytest.raises(VerifyException, match=message):
        instance.verify(verify_nested_ops=False)


def test_random_numbers_and_variables_are_not_deterministic() -> None:
    for name in ("opset8.RandomUniform", "opset13.Multinomial", "opset6.ReadValue", "opset6.Assign"):
        assert not operation(name).DETERMINISTIC
    assert OpsetOp.DETERMINISTIC


def test_a_variable_keeps_the_type_of_what_it_is_given() -> None:
    assert infer_with_moir("opset6.Assign", [("f32", (2, -1))], {"variable_id": "v"}) == [((2, -1), "f32")]


def test_an_absurd_range_is_inferred_without_being_made() -> None:
    operands = [integer(0), integer(10**15), integer(1)]
    assert infer_with_moir("opset4.Range", operands, {"output_type": "i64"}) == [((10**15,), "i64")]
    op = moir_operation("opset4.Range", operands, {"output_type": "i64"})
    typed = type(op).create(operands=op.operands, properties=op.properties, result_types=op.infer(KnownValues()))
    assert KnownValues().elements(typed.results[0]) is None
