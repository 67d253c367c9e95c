"""Activation functions of ONNX, against ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import check, node
from tests.numerical.onnx.node_case import COMPLETE, EVALUATED, STATIC, NodeCase, normal_numbers
from tests.numerical.runtime import Array

RANDOM = np.random.default_rng(3)
X = (3 * RANDOM.standard_normal((2, 3, 4, 5))).astype(np.float32)


@pytest.mark.parametrize(
    ("kind", "attributes", "opset", "operations"),
    [
        ("Relu", {}, 6, 1),
        ("Relu", {}, 14, 1),
        ("Sigmoid", {}, 13, 1),
        ("Softplus", {}, 1, 1),
        ("Softsign", {}, 1, 1),
        ("HardSwish", {}, 14, 1),
        ("Mish", {}, 18, 1),
        ("Elu", {}, 6, 1),
        ("Elu", {"alpha": 0.3}, 6, 1),
        ("Celu", {}, 12, 1),
        ("Celu", {"alpha": 0.5}, 12, 3),
        ("Celu", {"alpha": -1.5}, 12, 8),
        ("Selu", {}, 6, 1),
        ("Selu", {"alpha": 1.2, "gamma": 0.7}, 6, 1),
        ("HardSigmoid", {}, 6, 1),
        ("HardSigmoid", {"alpha": 0.4, "beta": 0.1}, 6, 1),
        ("Gelu", {}, 20, 1),
        ("Gelu", {"approximate": "tanh"}, 20, 1),
        ("LeakyRelu", {}, 6, 1),
        ("LeakyRelu", {"alpha": 0.3}, 16, 1),
        ("ThresholdedRelu", {}, 10, 2),
        ("ThresholdedRelu", {"alpha": -0.5}, 10, 2),
        ("Shrink", {}, 9, 3),
        ("Shrink", {"lambd": 1.0, "bias": 0.3}, 9, 6),
        ("Clip", {}, 6, 0),
        ("Clip", {"min": -0.5, "max": 1.0}, 6, 1),
        ("Clip", {"min": -0.5}, 6, 1),
        ("Clip", {"max": 0.25}, 6, 1),
        ("Softmax", {}, 13, 1),
        ("Softmax", {"axis": 1}, 13, 1),
        ("Softmax", {"axis": 3}, 11, 1),
        ("Softmax", {}, 11, 4),
        ("Softmax", {"axis": 2}, 7, 4),
        ("Softmax", {"axis": 0}, 7, 4),
        ("LogSoftmax", {"axis": 1}, 13, 1),
        ("LogSoftmax", {}, 11, 4),
        ("Hardmax", {"axis": 1}, 13, 5),
        ("Hardmax", {}, 13, 5),
        ("Hardmax", {}, 11, 8),
    ],
)
def test_unary(kind: str, attributes: dict[str, Any], opset: int, operations: int) -> None:
    check([node(kind, ["x"], ["y"], **attributes)], {"x": X}, opset=opset, operations=operations)


@pytest.mark.parametrize("alpha", [1.0, 0.7])
def test_swish(alpha: float) -> None:
    check([node("Swish", ["x"], ["y"], alpha=alpha)], {"x": X}, opset=24, expected=[X / (1 + np.exp(-alpha * X))], operations=1)


@pytest.mark.parametrize(("kind", "axis", "opset"), [("Softmax", -1, 11), ("LogSoftmax", -2, 11), ("Hardmax", -2, 11)])
def test_negative_axis_of_a_flattening_version(kind: str, axis: int, opset: int) -> None:
    check([node(kind, ["x"], ["y"], axis=axis)], {"x": X}, opset=opset, forms=("static", "dynamic"))


def test_negative_axis_of_a_flattening_version_needs_the_rank() -> None:
    with pytest.raises(ConversionError, match="rank of operand 0 is dynamic"):
        check([node("Softmax", ["x"], ["y"], axis=-2)], {"x": X}, opset=11, forms=("rank",))


def test_first_of_equal_elements_is_the_maximum() -> None:
    x = np.array([[1, 3, 3, 0], [2, 2, 2, 2]], np.float32)
    check([node("Hardmax", ["x"], ["y"])], {"x": x})


@pytest.mark.parametrize("shape", [(5,), (3, 1, 1), (1,), (2, 3, 4, 5), (4, 5)])
@pytest.mark.parametrize("constant", [True, False])
def test_prelu(shape: tuple[int, ...], constant: bool) -> None:
    slope = RANDOM.standard_normal(shape).astype(np.float32)
    values = {"slope": slope}
    check(
        [node("PRelu", ["x", "slope"], ["y"])],
        {"x": X} if constant else {"x": X, **values},
        constants=values if constant else None,
        opset=16,
    )


def test_prelu_of_channels() -> None:
    slope = RANDOM.standard_normal(3).astype(np.float32)
    expected = np.where(X > 0, X, X * slope[:, None, None])
    check([node("PRelu", ["x", "slope"], ["y"])], {"x": X}, constants={"slope": slope}, opset=6, expected=[expected], operations=1)


def test_prelu_of_integers() -> None:
    x = np.array([[-3, 2, -1]], np.int32)
    expected = np.array([[-6, 2, -3]], np.int32)
    check([node("PRelu", ["x", "s"], ["y"])], {"x": x}, constants={"s": np.array([2, 5, 3], np.int32)}, opset=9, expected=[expected])


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, np.int64, np.int8])
@pytest.mark.parametrize("present", [("min", "max"), ("min",), ("max",), ()])
@pytest.mark.parametrize("constant", [True, False])
def test_clip(dtype: type, present: tuple[str, ...], constant: bool) -> None:
    x = RANDOM.integers(-9, 9, (3, 4)).astype(dtype)
    limits = {"min": np.array(-4, dtype), "max": np.array(5, dtype)}
    given = {name: limits[name] for name in present}
    names = ["x", *(name if name in present else "" for name in ("min", "max"))]
    expected = x
    for name, limit in given.items():
        expected = (np.maximum if name == "min" else np.minimum)(expected, limit)
    check(
        [node("Clip", names, ["y"])],
        {"x": x} if constant else {"x": x, **given},
        constants=given if constant else None,
        opset=13,
        expected=[expected],
        operations=(1 if present else 0) if constant else 2,
    )


def test_clip_with_crossed_limits() -> None:
    limits = {"min": np.array(1, np.float32), "max": np.array(-1, np.float32)}
    check([node("Clip", ["x", "min", "max"], ["y"])], {"x": X}, constants=limits, expected=[np.full_like(X, -1)])


def test_clip_keeps_infinity_without_a_limit() -> None:
    x = np.array([np.inf, -np.inf, 1], np.float32)
    check([node("Clip", ["x", "min"], ["y"])], {"x": x}, constants={"min": np.array(0, np.float32)}, expected=[np.maximum(x, 0)])


def test_shrink_of_integers() -> None:
    x = np.arange(-4, 5, dtype=np.int32)
    check([node("Shrink", ["x"], ["y"], lambd=1.5, bias=1.5)], {"x": x}, opset=9)


@pytest.mark.parametrize("kind", ["Elu", "Selu", "HardSigmoid", "LeakyRelu", "Softmax", "HardSwish"])
def test_half_precision(kind: str) -> None:
    x = X.astype(np.float16)
    single = X.astype(np.float16).astype(np.float32)
    from tests.numerical.onnx.conversion import build, expected_results

    (expected,) = expected_results(build([node(kind, ["x"], ["y"])], {"x": single}), {"x": single}, "onnxruntime")
    check([node(kind, ["x"], ["y"])], {"x": x}, expected=[expected.astype(np.float16)], rtol=2e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("kind", "attributes", "expected"),
    [
        ("Affine", {"alpha": 2.0, "beta": 0.5}, 2 * X + 0.5),
        ("ScaledTanh", {"alpha": 2.0, "beta": 0.5}, 2 * np.tanh(0.5 * X)),
        ("ParametricSoftplus", {"alpha": 2.0, "beta": 0.5}, 2 * np.log1p(np.exp(0.5 * X))),
    ],
)
def test_experimental(kind: str, attributes: dict[str, float], expected: np.ndarray) -> None:
    check([node(kind, ["x"], ["y"], **attributes)], {"x": X}, opset=5, expected=[expected.astype(np.float32)])


def test_unknown_approximation() -> None:
    with pytest.raises(ConversionError, match=r"onnx\.Gelu.*approximate is 'sometimes'"):
        check([node("Gelu", ["x"], ["y"], approximate="sometimes")], {"x": X}, expected=[X])


real = normal_numbers(np.random.default_rng(1))

ZERO_PARAMETERS = {
    f"{kind} with {name} = 0": NodeCase(kind, {"x": real(5)}, attributes={name: 0.0})
    for kind, name in (("HardSigmoid", "alpha"), ("HardSigmoid", "beta"), ("Selu", "alpha"), ("Selu", "gamma"))
}

LARGE = np.array([8.5, 65504, -0.25, -2.45, 2], np.float16)


def celu(x: Array, alpha: float) -> Array:
    """The definition of Celu, in f64."""
    wide = x.astype(np.float64)
    with np.errstate(over="ignore"):
        return (np.maximum(wide, 0) + np.minimum(alpha * (np.exp(wide / alpha) - 1), 0)).astype(x.dtype)


NODES: dict[str, NodeCase] = {
    **ZERO_PARAMETERS,
    "Hardmax of a list": NodeCase("Hardmax", {"x": real(4)}, attributes={"axis": 0}),
    "Clip of NaN by a computed limit": NodeCase("Clip", {"x": np.array([np.nan, 3, -3], np.float32), "low": np.array(-1, np.float32)}),
    "PRelu of a scalar": NodeCase("PRelu", {"x": np.array(-2, np.float32), "slope": np.array(3, np.float32)}, options={"opset": 16}),
    "PRelu of a positive number with NaN": NodeCase(
        "PRelu", {"slope": np.array(np.nan, np.float32)}, {"x": np.array(2, np.float32)}, operands="x slope", options={"opset": 16}
    ),
    "Shrink of small unsigned integers": NodeCase(
        "Shrink",
        {"x": np.array([0, 1, 2, 200], np.uint8)},
        attributes={"lambd": 0.5, "bias": 2.0},
        options={"expected": [np.array([0, 255, 0, 198], np.uint8)]},
    ),
    "Relu of large integers": NodeCase("Relu", {"x": np.array([2**31 - 2, -5, 2**31 - 1], np.int32)}),
    **{
        f"Celu of f16 with alpha {alpha}": NodeCase(
            "Celu", {}, {"x": LARGE}, attributes={"alpha": alpha}, options=STATIC | {"expected": [celu(LARGE, alpha)]}
        )
        for alpha in (1e-5, -0.2)
    },
    "Clip of a constant list with a computed limit": NodeCase(
        "Clip",
        {"m": np.array(0, np.uint16)},
        {"x": np.array([0], np.uint16), "h": np.array(9, np.uint16)},
        operands="x m h",
        options=COMPLETE | STATIC | EVALUATED,
    ),
}


@pytest.mark.parametrize("case", NODES.values(), ids=NODES)
def test_node(case: NodeCase) -> None:
    case.check()
