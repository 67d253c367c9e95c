"""Quantization as Brevitas and QONNX write it, against the definitions of QONNX in numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import check, node
from tests.numerical.runtime import Array

RANDOM = np.random.default_rng(16)

# Half of the data lie in the middle between two levels of the scale 0.25.
X = np.concatenate([RANDOM.standard_normal((2, 3, 4)) * 3, RANDOM.integers(-40, 40, (2, 3, 4)) * 0.125], -1).astype(np.float32)

ROUNDINGS: dict[str, Callable[[Array], Array]] = {
    "ROUND": np.round,
    "CEIL": np.ceil,
    "FLOOR": np.floor,
    "UP": lambda x: np.sign(x) * np.ceil(np.abs(x)),
    "DOWN": np.trunc,
    "HALF_UP": lambda x: np.sign(x) * np.floor(np.abs(x) + 0.5),
    "HALF_DOWN": lambda x: np.sign(x) * np.ceil(np.abs(x) - 0.5),
}

TEXTS_OF_ROUNDING = [5.5, 2.5, 1.6, 1.1, 1.0, -1.0, -1.1, -1.6, -2.5, -5.5]
"""The numbers of QONNX's table of roundings."""


def limits(bits: float, signed: int, narrow: int) -> tuple[float, float]:
    if signed:
        return -(2 ** (bits - 1)) + narrow, 2 ** (bits - 1) - 1
    return 0, 2**bits - 1 - narrow


def scalar(value: float) -> Array:
    return np.array(value, np.float32)


@pytest.mark.parametrize("domain", ["qonnx.custom_op.general", "onnx.brevitas", "finn.custom_op.general"])
@pytest.mark.parametrize(("signed", "narrow"), [(1, 0), (1, 1), (0, 0), (0, 1)])
@pytest.mark.parametrize(("bits", "zero"), [(4, 0), (8, 0), (3, 2), (4, 0.5), (16, 0), (2.5, 0)])
def test_quantization(domain: str, signed: int, narrow: int, bits: float, zero: float) -> None:
    constants = {"scale": scalar(0.25), "zero": scalar(zero), "bits": scalar(bits)}
    low, high = limits(bits, signed, narrow)
    expected = ((np.round(np.clip(X / 0.25 + zero, low, high)) - zero) * 0.25).astype(np.float32)
    model = [node("Quant", ["x", *constants], ["y"], domain=domain, signed=signed, narrow=narrow, rounding_mode="ROUND")]
    is_one_operation = bits in (3, 4, 8) and zero != 0.5 and not (signed and narrow)
    check(model, {"x": X}, constants=constants, expected=[expected], operations=1 if is_one_operation else None)


@pytest.mark.parametrize("mode", ROUNDINGS)
@pytest.mark.parametrize("spelling", [str.upper, str.lower])
def test_roundings(mode: str, spelling: Callable[[str], str]) -> None:
    x = np.array(TEXTS_OF_ROUNDING, np.float32)
    constants = {"scale": scalar(1), "zero": scalar(0), "bits": scalar(8)}
    model = [node("IntQuant", ["x", *constants], ["y"], domain="qonnx.custom_op.general", rounding_mode=spelling(mode))]
    check(model, {"x": x}, constants=constants, expected=[ROUNDINGS[mode](x).astype(np.float32)])


def test_scales_of_channels() -> None:
    scale = np.array([0.25, 0.5, 1.0], np.float32).reshape(1, 3, 1)
    constants = {"scale": scale, "zero": scalar(0), "bits": scalar(4)}
    expected = np.clip(np.round(X / scale), -8, 7) * scale
    check([node("Quant", ["x", *constants], ["y"], domain="onnx.brevitas")], {"x": X}, constants=constants, expected=[expected])


def test_scale_that_is_computed() -> None:
    inputs = {"x": X, "scale": scalar(0.25)}
    constants = {"zero": scalar(0), "bits": scalar(4)}
    expected = np.clip(np.round(X / 0.25), -8, 7) * np.float32(0.25)
    check([node("Quant", ["x", "scale", "zero", "bits"], ["y"], domain="onnx.brevitas")], inputs, constants=constants, expected=[expected])


@pytest.mark.parametrize("kind", ["BipolarQuant", "Quant"])
def test_signs(kind: str) -> None:
    constants = {"scale": scalar(0.5)} | ({"zero": scalar(0), "bits": scalar(1)} if kind == "Quant" else {})
    expected = np.where(X >= 0, np.float32(0.5), np.float32(-0.5))
    model = [node(kind, ["x", *constants], ["y"], domain="qonnx.custom_op.general")]
    check(model, {"x": X}, constants=constants, expected=[expected])


@pytest.mark.parametrize("mode", ["FLOOR", "ROUND", "CEIL"])
@pytest.mark.parametrize("zero", [0, 4])
def test_truncation(mode: str, zero: float) -> None:
    constants = {"scale": scalar(0.25), "zero": scalar(zero), "in": scalar(8), "out": scalar(6)}
    expected = (ROUNDINGS[mode](np.round(X / 0.25 + zero) / 4) - zero) * 0.25
    model = [node("Trunc", ["x", *constants], ["y"], domain="qonnx.custom_op.general", rounding_mode=mode)]
    check(model, {"x": X}, constants=constants, expected=[expected.astype(np.float32)])


@pytest.mark.parametrize("operands", [6, 7])
@pytest.mark.parametrize(("signed", "zero"), [(1, 0), (0, 4)])
def test_truncation_of_version_2(operands: int, signed: int, zero: float) -> None:
    constants = {"scale": scalar(0.25), "zero": scalar(zero), "in": scalar(8), "result": scalar(1)}
    constants |= ({"result_zero": scalar(zero / 4)} if operands == 7 else {}) | {"out": scalar(3)}
    low, high = limits(3, signed, 0)
    expected = (np.floor(np.clip(np.round(X / 0.25 + zero) / 4, low, high)) - zero / 4) * 1
    model = [node("Trunc", ["x", *constants], ["y"], domain="qonnx.custom_op.general", rounding_mode="FLOOR", signed=signed)]
    check(model, {"x": X}, constants=constants, expected=[expected.astype(np.float32)], domain_version=2)


@pytest.mark.parametrize(
    ("constants", "attributes", "message"),
    [
        ({"bits": scalar(0)}, {}, "no positive constant"),
        ({}, {}, "no positive constant"),
        ({"bits": scalar(4)}, {"rounding_mode": "STOCHASTIC"}, "rounding_mode 'STOCHASTIC' is not one of"),
    ],
)
def test_refusal(constants: dict[str, Array], attributes: dict[str, Any], message: str) -> None:
    inputs = {"x": X} if constants else {"x": X, "bits": scalar(4)}
    all_constants = {"scale": scalar(0.25), "zero": scalar(0), **constants}
    model = [node("Quant", ["x", "scale", "zero", "bits"], ["y"], domain="onnx.brevitas", **attributes)]
    with pytest.raises(ConversionError, match=message):
        check(model, inputs, constants=all_constants, expected=[X])
