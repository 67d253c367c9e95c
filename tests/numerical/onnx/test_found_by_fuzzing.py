"""Single nodes that random testing found to be wrong, rejected by the runtime or refused without need.

A case is the kind, the attributes, the inputs and the constants by the names of the operands in order, and what differs
from the defaults of `check`. An operand that is in neither is absent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from tests.numerical.onnx.conversion import check, node

RANDOM = np.random.default_rng(11)


def real(*shape: int) -> Any:
    """Random f32 data."""
    return RANDOM.standard_normal(shape).astype(np.float32)


@dataclass
class Case:
    """A node. `operands` has the names of all operands, "" for absent ones."""

    kind: str
    inputs: dict[str, Any]
    constants: dict[str, Any] = field(default_factory=dict)
    operands: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)


def integers(dtype: type) -> dict[str, Any]:
    """Two operands whose sums, differences and products overflow 8 bits."""
    info = np.iinfo(dtype)
    a, b = (RANDOM.integers(info.min, info.max, 40, endpoint=True).astype(dtype) for _ in range(2))
    a[:2] = info.min, info.max
    return {"a": a, "b": np.where(b == 0, 3, b).astype(dtype)}


NARROW = {f"{kind} of {dtype.__name__}": Case(kind, integers(dtype))
          for kind in ("Add", "Sub", "Mul", "Div") for dtype in (np.int8, np.uint8)}  # fmt: skip

ZERO_PARAMETERS = {f"{kind} with {name} = 0": Case(kind, {"x": real(5)}, attributes={name: 0.0})
                   for kind, name in (("HardSigmoid", "alpha"), ("HardSigmoid", "beta"), ("Selu", "alpha"), ("Selu", "gamma"))}  # fmt: skip

RANGES = {f"Range of {start}, {limit}, {delta}": Case("Range", {"a": np.array(start), "b": np.array(limit), "c": np.array(delta)})
          for start, limit, delta in ((0, 5, -1), (0, -5, 1), (3, 3, 1), (0, 5, 2), (5.0, 0.0, -2.0), (0.0, 5.0, -2.0))}  # fmt: skip

SMALLER_INDICES = {
    f"GatherElements along {axis}": Case(
        "GatherElements", {"x": real(3, 4, 5), "i": RANDOM.integers(0, 3, shape)}, attributes={"axis": axis}
    )
    for axis, shape in ((0, (2, 3, 2)), (1, (2, 6, 5)), (-1, (3, 2, 2)))
}

REFERENCE = {"reference": "onnx"}
RANKED = REFERENCE | {"forms": ["static", "dynamic"]}

CASES: dict[str, Case] = {
    **NARROW,
    **ZERO_PARAMETERS,
    **RANGES,
    **SMALLER_INDICES,
    "Erf of integers": Case("Erf", {"x": np.arange(-3, 4)}, options=REFERENCE),
    "OneHot of 8-bit indices": Case(
        "OneHot", {"x": np.array([0, 3, -1, 7], np.int8)}, {"d": np.array(5), "v": real(2)}, "x d v", options=REFERENCE
    ),
    "Hardmax of a list": Case("Hardmax", {"x": real(4)}, attributes={"axis": 0}),
    "LSTM with weights of unknown sizes": Case(
        "LSTM", {"x": real(2, 1, 4), "w": real(1, 12, 4), "r": real(1, 12, 3)}, attributes={"hidden_size": 3}
    ),
    "NonMaxSuppression of boxes of unknown size": Case(
        "NonMaxSuppression", {"b": np.abs(real(1, 6, 4)), "s": real(1, 1, 6)}, {"m": np.array([3]), "i": np.array([0.5], np.float32)}
    ),
    "DFT, onesided, longer than the data": Case(
        "DFT", {"x": real(1, 10, 1)}, {"n": np.array(16)}, "x n", RANKED | {"opset": 19, "atol": 1e-4}, {"onesided": 1}
    ),
    "DFT of f64": Case("DFT", {"x": real(1, 10, 1).astype(np.float64)}, options=RANKED | {"opset": 19, "atol": 1e-4}),
    "DFT of complex numbers": Case("DFT", {"x": real(2, 6, 2)}, options=RANKED | {"opset": 19}),
    "DFT along a computed axis": Case("DFT", {"x": real(2, 6, 5, 2), "a": np.array(-3)}, {}, "x  a", RANKED | {"opset": 20}),
    "STFT with a step of i32": Case(
        "STFT", {"x": real(1, 64, 1)}, {"s": np.array(8, np.int32), "w": np.hanning(16).astype(np.float32)}, options=REFERENCE
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: Case) -> None:
    names = case.operands.split(" ") if case.operands else [*case.inputs, *case.constants]
    check([node(case.kind, names, ["y"], **case.attributes)], case.inputs, constants=case.constants, **case.options)
