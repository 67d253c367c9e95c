"""Tensors of numbers: types and values against OpenVINO Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.utils.exceptions import VerifyException

from moir.analysis.known_values import KnownValues
from tests.unit.dialects.opset.cases import (
    F32,
    Case,
    check_types,
    check_values,
    floating,
    integer,
    integers,
    operations,
)
from tests.unit.dialects.opset.runtime_reference import infer_with_moir, moir_operation

TYPES: list[Case] = [
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
]


@pytest.mark.parametrize("op", operations(TYPES))
def test_types_are_those_of_the_runtime(op: str) -> None:
    check_types(op, TYPES)


VALUES: list[Case] = [
    *[("opset9.Eye", [integer(3), integer(4), integer(k)], {"output_type": "f32"}) for k in (-1, 0, 2, 9)],
    ("opset9.Eye", [integer(2), integer(2), integer(0), integers(2, 1)], {"output_type": "i32"}),
    ("opset4.Range", [integer(1), integer(9), integer(3)], {"output_type": "i64"}),
    ("opset4.Range", [integer(9), integer(1), integer(-3)], {"output_type": "i32"}),
    ("opset4.Range", [floating(0.5), floating(2), floating(0.3)], {"output_type": "f32"}),
    ("opset4.Range", [floating(1.9), floating(7.9), floating(2.9)], {"output_type": "i64"}),
]


@pytest.mark.parametrize("op", operations(VALUES))
def test_values_are_those_of_the_runtime(op: str) -> None:
    # The kernel of the CPU plugin rounds the operands of a range of integers.
    check_values(op, VALUES, folded=op == "opset4.Range")


def test_an_absurd_range_is_inferred_without_being_made() -> None:
    operands = [integer(0), integer(10**14), integer(1)]
    assert infer_with_moir("opset4.Range", operands, {"output_type": "i64"}) == [((10**14,), "i64")]
    op = moir_operation("opset4.Range", operands, {"output_type": "i64"})
    typed = type(op).create(operands=op.operands, properties=op.properties, result_types=op.infer(KnownValues()))
    assert KnownValues().elements(typed.results[0]) is None


@pytest.mark.parametrize(
    ("op", "operands", "properties", "message"),
    [
        ("opset13.Multinomial", [F32, integers(1)], {"convert_type": "f32", "with_replacement": True, "log_probs": True}, "i32 or i64"),
    ],
)
def test_verifiers_refuse(op: str, operands: list[Any], properties: dict[str, Any], message: str) -> None:
    instance = moir_operation(op, operands, properties)
    with pytest.raises(VerifyException, match=message):
        instance.verify(verify_nested_ops=False)
