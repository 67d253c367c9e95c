"""Fourier transforms and mel filters in ONNX models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import check, node
from tests.numerical.onnx.node_case import EVALUATED, WITH_RANK, WITHOUT_RANK, NodeCase, normal_numbers

RANDOM = np.random.default_rng(7)


def real(*shape: int) -> Any:
    """Random f32 data."""
    return RANDOM.normal(size=shape).astype(np.float32)


def pairs(numbers: Any) -> Any:
    """Complex numbers as ONNX has them."""
    return np.stack([numbers.real, numbers.imag], axis=-1).astype(np.float32)


REAL, COMPLEX = real(2, 8, 6, 1), real(2, 8, 6, 2)
AS_COMPLEX = COMPLEX[..., 0] + 1j * COMPLEX[..., 1]
PLAIN = REAL[..., 0]

# data, attributes, axis, length, result, most operations
TRANSFORMS: list[tuple[Any, dict[str, int], int, int | None, Any, int]] = [
    (REAL, {}, 1, None, pairs(np.fft.fft(PLAIN, axis=1)), 2),
    (COMPLEX, {}, 1, None, pairs(np.fft.fft(AS_COMPLEX, axis=1)), 1),
    (COMPLEX, {}, -2, 4, pairs(np.fft.fft(AS_COMPLEX, 4, axis=2)), 1),
    (COMPLEX, {}, 2, 9, pairs(np.fft.fft(AS_COMPLEX, 9, axis=2)), 1),
    (COMPLEX, {"inverse": 1}, 2, None, pairs(np.fft.ifft(AS_COMPLEX, axis=2)), 1),
    (REAL, {"inverse": 1}, 1, None, pairs(np.fft.ifft(PLAIN, axis=1)), 2),
    (REAL, {"onesided": 1}, 1, None, pairs(np.fft.rfft(PLAIN, axis=1)), 2),
    (REAL, {"onesided": 1}, 2, 5, pairs(np.fft.rfft(PLAIN, 5, axis=2)), 2),
    (COMPLEX, {"onesided": 1, "inverse": 1}, 2, None, np.fft.irfft(AS_COMPLEX, axis=2)[..., None].astype(np.float32), 2),
    (COMPLEX, {"onesided": 1, "inverse": 1}, 2, 7, np.fft.irfft(AS_COMPLEX, 7, axis=2)[..., None].astype(np.float32), 2),
]


@pytest.mark.parametrize(("data", "attributes", "axis", "length", "expected", "operations"), TRANSFORMS)
@pytest.mark.parametrize("opset", [17, 20])
def test_transforms(
    data: Any, attributes: dict[str, int], axis: int, length: int | None, expected: Any, operations: int, opset: int
) -> None:
    constants: dict[str, Any] = {} if length is None else {"n": np.array(length, np.int64)}
    names = ["x", "" if length is None else "n"]
    if opset == 17:
        attributes = attributes | {"axis": axis}
    else:
        names.append("axis")
        constants["axis"] = np.array(axis, np.int64)
    while not names[-1]:
        names.pop()
    nodes = [node("DFT", names, ["y"], **attributes)]
    check(nodes, {"x": data}, constants=constants, opset=opset, expected=[expected], forms=["static"], operations=operations, atol=1e-4)


def test_transform_of_unknown_sizes() -> None:
    """Which numbers the last dimension holds must be known, the other dimensions need not."""
    nodes = [node("Unsqueeze", ["x", "last"], ["u"]), node("DFT", ["u"], ["y"], onesided=1)]
    expected = [pairs(np.fft.rfft(PLAIN, axis=2))]
    constants = {"last": np.array([-1])}
    check(nodes, {"x": PLAIN}, constants=constants, opset=20, expected=expected, forms=["static", "dynamic"], atol=1e-4)


def framed(signal: Any, window: Any, size: int, step: int) -> Any:
    """The windowed frames of a batch of signals."""
    count = (signal.shape[1] - size) // step + 1
    return np.stack([signal[:, i * step : i * step + size] * window for i in range(count)], axis=1)


SIGNAL = real(2, 32)
WINDOW = np.hanning(8).astype(np.float32)
FRAMES = framed(SIGNAL, WINDOW, 8, 4)
PLAIN_FRAMES = framed(SIGNAL, np.ones(8, np.float32), 8, 4)
WAVE = real(2, 32, 2)
WAVE_FRAMES = framed(WAVE[..., 0] + 1j * WAVE[..., 1], WINDOW, 8, 4)


@pytest.mark.parametrize(
    ("data", "names", "attributes", "expected"),
    [
        (SIGNAL[..., None], ["step", "window"], {}, np.fft.rfft(FRAMES)),
        (SIGNAL[..., None], ["step", "window", "length"], {"onesided": 1}, np.fft.rfft(FRAMES)),
        (SIGNAL[..., None], ["step", "", "length"], {}, np.fft.rfft(PLAIN_FRAMES)),
        (SIGNAL[..., None], ["step", "window"], {"onesided": 0}, np.fft.fft(FRAMES)),
        (WAVE, ["step", "window", "length"], {"onesided": 0}, np.fft.fft(WAVE_FRAMES)),
    ],
)
def test_short_time_transform(data: Any, names: list[str], attributes: dict[str, int], expected: Any) -> None:
    values = {"step": np.array(4, np.int64), "window": WINDOW, "length": np.array(8, np.int64)}
    given = {name: values[name] for name in names if name}
    nodes = [node("STFT", ["x", *names], ["y"], **attributes)]
    check(nodes, {"x": data}, constants=given, opset=17, expected=[pairs(expected)], forms=["static"], atol=1e-4)
    check(nodes, {"x": data} | given, opset=17, expected=[pairs(expected)], forms=["static", "dynamic"], fixed=["x"], atol=1e-4)


@pytest.mark.parametrize(("bins", "low", "high"), [(8, 0.0, 4096.0), (20, 100.0, 7600.0)])
def test_mel_weight_matrix(bins: int, low: float, high: float) -> None:
    values = [np.array(bins, np.int64), np.array(256, np.int64), np.array(16000, np.int64)]
    constants: dict[str, Any] = {f"c{index}": value for index, value in enumerate(values)}
    constants |= {"c3": np.array(low, np.float32), "c4": np.array(high, np.float32)}
    nodes = [node("MelWeightMatrix", list(constants), ["y"])]
    check(nodes, {"x": real(1)}, constants=constants, opset=17, forms=["static"], reference="onnx", operations=0)


@pytest.mark.parametrize("bins", [4, 8])
def test_computed_filters(bins: int) -> None:
    numbers = {"bins": bins, "length": 64, "rate": 16000}
    inputs = {name: np.array(value) for name, value in numbers.items()} | {
        name: np.array(value, np.float32) for name, value in (("low", 20), ("high", 8000))
    }
    check([node("MelWeightMatrix", list(inputs), ["y"])], inputs, opset=17, forms=["static"])


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ([node("DFT", ["x"], ["y"], onesided=1)], "for real numbers only"),
        ([node("DFT", ["r"], ["y"], onesided=1, inverse=1)], "for complex numbers only"),
        ([node("DFT", ["x"], ["y"], axis=3)], "cannot be transformed"),
        ([node("STFT", ["r", "n"], ["y"])], "neither a window nor the length"),
    ],
)
def test_errors(nodes: list[Any], reason: str) -> None:
    inputs = {"x": COMPLEX, "r": REAL, "n": np.array(4, np.int64), "f": np.array(1, np.float32)}
    with pytest.raises(ConversionError, match=reason):
        check(nodes, {name: inputs[name] for name in dict.fromkeys(nodes[0].input)}, opset=17, expected=[])


normal = normal_numbers(np.random.default_rng(20))

NODES: dict[str, NodeCase] = {
    "DFT, onesided, longer than the data": NodeCase(
        "DFT",
        {"x": normal(1, 10, 1)},
        {"n": np.array(16)},
        operands="x n",
        attributes={"onesided": 1},
        options=EVALUATED | WITH_RANK | {"opset": 19, "atol": 1e-4},
    ),
    "DFT of f64": NodeCase("DFT", {"x": normal(1, 10, 1).astype(np.float64)}, options=EVALUATED | WITH_RANK | {"opset": 19, "atol": 1e-4}),
    "DFT of complex numbers": NodeCase("DFT", {"x": normal(2, 6, 2)}, options=EVALUATED | WITH_RANK | {"opset": 19}),
    "DFT along a computed axis": NodeCase(
        "DFT", {"x": normal(2, 6, 5, 2), "a": np.array(-3)}, operands="x - a", options=EVALUATED | WITH_RANK | {"opset": 20}
    ),
    "STFT with a step of i32": NodeCase(
        "STFT", {"x": normal(1, 64, 1)}, {"s": np.array(8, np.int32), "w": np.hanning(16).astype(np.float32)}, options=EVALUATED
    ),
    "STFT with a window of dynamic rank": NodeCase(
        "STFT",
        {"window": normal(4)},
        {"x": normal(1, 13, 1), "step": np.array(2)},
        operands="x step window",
        attributes={"onesided": 0},
        options=WITHOUT_RANK | {"opset": 17},
    ),
}


@pytest.mark.parametrize("case", NODES.values(), ids=NODES)
def test_node(case: NodeCase) -> None:
    case.check()
