"""Types and values of operations against OpenVINO Runtime, case by case: operation, operands and properties."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.utils.exceptions import VerifyException

from moir.errors import InferenceError
from tests.unit.dialects.opset.runtime_reference import evaluate_with_moir, evaluate_with_runtime, infer_with_moir, infer_with_runtime

Case = tuple[str, list[Any], dict[str, Any]]
"""Operation, operands, properties."""

SHAPES = [(), (1,), (3,), (-1,), (2, 3), (1, 3), (2, 1), (-1, 3), (2, -1), (-1, -1), (2, 2, 3), (-1, 1, 3), (4, -1, 1), (0, 3), None]
F32 = ("f32", (2, 3))

GENERATOR = np.random.default_rng(20240601)
REALS = GENERATOR.normal(0, 2, (2, 3, 4)).astype(np.float32)
SPECIAL = np.array([-np.inf, -3.5, -2.5, -0.5, -0.0, 0.0, 0.5, 1.5, 2.5, 70.0, np.inf, np.nan], np.float32)
INTEGERS = np.array([[-7, -6, -1, 0, 1], [5, 6, 7, 8, 9]], np.int32)
DIVISORS = np.array([[2, -4, 3, 5, -2], [-3, 4, -5, 3, 2]], np.int32)
BOOLEANS = np.array([[True, False], [False, True]])
ROW = np.array([True, False])


def integers(*values: int) -> np.ndarray[Any, Any]:
    """A constant list of integers."""
    return np.array(values, np.int64)


def integer(value: int) -> np.ndarray[Any, Any]:
    """A constant integer."""
    return np.array(value, np.int64)


def floating(value: float) -> np.ndarray[Any, Any]:
    """A constant f32."""
    return np.array(value, np.float32)


def outcome(infer: Any, op: str, operands: list[Any], properties: dict[str, Any]) -> Any:
    """What was inferred, or `refused`."""
    try:
        return infer(op, operands, properties)
    except (InferenceError, VerifyException, RuntimeError):
        return "refused"


def assert_same_types(op: str, operands: list[Any], properties: dict[str, Any]) -> None:
    """Assert that moir and the runtime infer the same types, or both refuse."""
    expected = outcome(infer_with_runtime, op, operands, properties)
    assert outcome(infer_with_moir, op, operands, properties) == expected, (op, operands, properties)


def operations(cases: list[Case]) -> list[str]:
    """The operations of cases."""
    return sorted({name for name, _, _ in cases})


def check_types(op: str, cases: list[Case]) -> None:
    """Assert that moir and the runtime infer the same types in all cases of an operation."""
    for _, operands, properties in (case for case in cases if case[0] == op):
        assert_same_types(op, operands, properties)


def check_values(op: str, cases: list[Case], *, folded: bool = False) -> None:
    """Assert that moir and the runtime compute the same in all cases of an operation.

    Args:
        op: the operation.
        cases: the cases, also those of other operations.
        folded: make all operands constants, which the runtime folds by itself, where the kernels of the CPU plugin differ from the
            specification.
    """
    for _, arrays, properties in (case for case in cases if case[0] == op):
        (expected,) = evaluate_with_runtime(op, arrays, properties, constants=range(len(arrays)) if folded else None)
        (actual,) = evaluate_with_moir(op, arrays, properties)
        assert actual.shape == expected.shape
        assert actual.dtype == expected.dtype
        if actual.dtype.kind in "biu":
            np.testing.assert_array_equal(actual, expected, err_msg=f"{op} {properties}")
        else:
            np.testing.assert_allclose(
                actual.astype(np.float64), expected.astype(np.float64), rtol=2e-5, atol=2e-6, err_msg=f"{op} {properties}"
            )
