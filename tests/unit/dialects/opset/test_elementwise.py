"""Activation, arithmetic, bitwise, comparison, elementwise, logical, reduction, matrix, sequence, generation and infrastructure
operations: types as the runtime has them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from xdsl.utils.exceptions import VerifyException

from moir.analysis.known_values import KnownValues
from moir.dialects.opset import FAMILIES, newest, operation
from moir.dialects.opset.base import OpsetOp
from moir.errors import InferenceError
from tests.unit.dialects.opset.runtime_reference import infer_with_moir, infer_with_runtime, moir_operation

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
