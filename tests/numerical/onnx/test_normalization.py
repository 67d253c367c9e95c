"""Normalization layers of ONNX, against ONNX Runtime or the reference implementation of ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.forms import FORMS
from tests.numerical.onnx.conversion import check, node
from tests.numerical.onnx.node_case import COMPLETE, DYNAMIC, EVALUATED, STATIC, WITH_RANK, NodeCase, normal_numbers

RANDOM = np.random.default_rng(7)
X = RANDOM.standard_normal((2, 6, 4, 3)).astype(np.float32)


def positive(*shape: int) -> np.ndarray:
    return RANDOM.uniform(0.5, 2, shape).astype(np.float32)


STATISTICS = {name: positive(6) for name in ("scale", "bias", "mean", "var")}
BATCH = ["x", *STATISTICS]


@pytest.mark.parametrize(("opset", "attributes"), [(7, {}), (9, {"epsilon": 1e-3}), (14, {}), (15, {}), (6, {"is_test": 1})])
@pytest.mark.parametrize("constant", [True, False])
def test_batch_normalization(opset: int, attributes: dict[str, Any], constant: bool) -> None:
    shaped = {name: value.reshape(-1, 1, 1) for name, value in STATISTICS.items()}
    root = np.sqrt(shaped["var"] + attributes.get("epsilon", 1e-5))
    expected = (X - shaped["mean"]) / root * shaped["scale"] + shaped["bias"]
    check(
        [node("BatchNormalization", BATCH, ["y"], **attributes)],
        {"x": X} if constant else {"x": X, **STATISTICS},
        constants=STATISTICS if constant else None,
        opset=opset,
        expected=[expected],
        operations=1,
    )


def test_batch_normalization_of_elements() -> None:
    statistics = {name: positive(6, 4, 3) for name in STATISTICS}
    expected = (X - statistics["mean"]) / np.sqrt(statistics["var"] + 1e-5) * statistics["scale"] + statistics["bias"]
    check([node("BatchNormalization", BATCH, ["y"], spatial=0)], {"x": X}, constants=statistics, opset=7, expected=[expected])


def test_batch_normalization_of_two_dimensions() -> None:
    check([node("BatchNormalization", BATCH, ["y"])], {"x": X[:, :, 0, 0]}, constants=STATISTICS, opset=15)


def test_batch_normalization_in_training() -> None:
    model = [node("BatchNormalization", BATCH, ["y", "m", "v"], training_mode=1, momentum=0.8)]
    check(model, {"x": X}, constants=STATISTICS, opset=15, reference="onnx", forms=("static", "dynamic"))


def test_old_training_is_refused() -> None:
    model = [node("BatchNormalization", BATCH, ["y", "m"]), node("Relu", ["m"], ["z"])]
    with pytest.raises(ConversionError, match="training"):
        check(model, {"x": X}, constants=STATISTICS, opset=9, expected=[X])


VECTORS = {"scale": positive(6), "bias": positive(6)}


@pytest.mark.parametrize("shape", [(2, 6, 4, 3), (2, 6, 5), (2, 6, 2, 3, 2)])
@pytest.mark.parametrize("constant", [True, False])
def test_instance_normalization(shape: tuple[int, ...], constant: bool) -> None:
    x = RANDOM.standard_normal(shape).astype(np.float32)
    inputs = {"x": x} if constant else {"x": x, **VECTORS}
    model = [node("InstanceNormalization", ["x", "scale", "bias"], ["y"], epsilon=1e-3)]
    check(model, inputs, constants=VECTORS if constant else None, operations=3 if constant else 5, opset=6)


@pytest.mark.parametrize(("axis", "shape"), [(-1, (3,)), (2, (4, 3)), (-3, (6, 4, 3)), (1, (6, 4, 3))])
@pytest.mark.parametrize("bias", [True, False])
def test_layer_normalization(axis: int, shape: tuple[int, ...], bias: bool) -> None:
    constants = {"scale": positive(*shape), "bias": positive(*shape)}
    names = ["x", "scale", *(["bias"] if bias else [])]
    check([node("LayerNormalization", names, ["y"], axis=axis)], {"x": X}, constants=constants, opset=17, operations=2 + bias)


def test_statistics_of_a_layer() -> None:
    model = [node("LayerNormalization", ["x", "scale"], ["y", "mean", "deviation"], axis=2)]
    check(model, {"x": X}, constants={"scale": positive(4, 3)}, opset=17)


def test_layer_normalization_in_half_precision() -> None:
    x = X.astype(np.float16)
    check([node("LayerNormalization", ["x", "scale"], ["y"])], {"x": x}, constants={"scale": np.ones(3, np.float16)}, rtol=5e-3, atol=5e-3)


@pytest.mark.parametrize("groups", [1, 2, 3, 6])
@pytest.mark.parametrize("constant", [True, False])
def test_group_normalization(groups: int, constant: bool) -> None:
    inputs = {"x": X} if constant else {"x": X, **VECTORS}
    model = [node("GroupNormalization", ["x", "scale", "bias"], ["y"], num_groups=groups)]
    check(model, inputs, constants=VECTORS if constant else None, opset=21, operations=1)


@pytest.mark.parametrize("constant", [True, False])
def test_group_normalization_by_groups(constant: bool) -> None:
    vectors = {"scale": positive(3), "bias": positive(3)}
    normal = X.reshape(2, 3, -1)
    normal = (normal - normal.mean(-1, keepdims=True)) / np.sqrt(normal.var(-1, keepdims=True) + 1e-5)
    expected = (normal * vectors["scale"][:, None] + vectors["bias"][:, None]).reshape(X.shape)
    model = [node("GroupNormalization", ["x", "scale", "bias"], ["y"], num_groups=3)]
    inputs = {"x": X} if constant else {"x": X, **vectors}
    check(model, inputs, constants=vectors if constant else None, opset=18, expected=[expected])


@pytest.mark.parametrize("axis", [-1, 1, 0])
@pytest.mark.parametrize("p", [1, 2])
def test_lp_normalization(axis: int, p: int) -> None:
    x = X.copy()
    x[0, :, 0, 0] = x[:, 0, 1, 1] = x[1, 1, 1, :] = 0
    norm = np.linalg.norm(x, p, axis=axis, keepdims=True)
    expected = np.divide(x, norm, out=np.zeros_like(x), where=norm != 0)
    check([node("LpNormalization", ["x"], ["y"], axis=axis, p=p)], {"x": x}, opset=1, expected=[expected])


def test_other_norms_are_refused() -> None:
    with pytest.raises(ConversionError, match="p is 3"):
        check([node("LpNormalization", ["x"], ["y"], p=3)], {"x": X}, expected=[X])


@pytest.mark.parametrize("size", [1, 3, 5, 2, 4])
@pytest.mark.parametrize("bias", [1.0, 2.0, 1.5])
def test_lrn(size: int, bias: float) -> None:
    before, after = (size - 1) // 2, size // 2
    sums = np.stack([np.square(X[:, max(0, c - before) : c + after + 1]).sum(1) for c in range(6)], axis=1)
    expected = X / (bias + 0.3 / size * sums) ** 0.6
    check(
        [node("LRN", ["x"], ["y"], size=size, alpha=0.3, beta=0.6, bias=bias)],
        {"x": X},
        opset=13,
        expected=[expected],
        forms=("static", "dynamic") if size % 2 == 0 else FORMS,
    )


@pytest.mark.parametrize("attributes", [{}, {"axes": [1, 2]}])
def test_mean_variance_normalization(attributes: dict[str, Any]) -> None:
    check([node("MeanVarianceNormalization", ["x"], ["y"], **attributes)], {"x": X}, opset=13, operations=1)


@pytest.mark.parametrize(("axis", "shape"), [(-1, (3,)), (2, (4, 3))])
def test_root_mean_square_normalization(axis: int, shape: tuple[int, ...]) -> None:
    scale = positive(*shape)
    expected = X / np.sqrt(np.square(X).mean(tuple(range(axis % 4, 4)), keepdims=True) + 1e-5) * scale
    model = [node("RMSNormalization", ["x", "scale"], ["y"], axis=axis)]
    check(model, {"x": X}, constants={"scale": scale}, opset=23, expected=[expected], operations=6)


real = normal_numbers(np.random.default_rng(13))

ZERO_MATRIX = np.zeros((2, 2), np.float32)

NODES: dict[str, NodeCase] = {
    "LRN of a dynamic number of channels": NodeCase("LRN", {"x": real(2, 6, 2, 5)}, attributes={"size": 5, "bias": 2.0, "alpha": 0.5}),
    "LpNormalization of f16": NodeCase(
        "LpNormalization", {"x": np.array([[-1, -0.5, 0, 1]], np.float16)}, attributes={"axis": 0}, options=EVALUATED | WITH_RANK
    ),
    "BatchNormalization of no channel": NodeCase(
        "BatchNormalization",
        {"x": np.zeros((2, 0), np.float32)},
        {name: np.zeros(0, np.float32) for name in ("scale", "bias", "mean", "variance")},
        options={"opset": 14, "expected": [np.zeros((2, 0), np.float32)]},
    ),
    "BatchNormalization of no channel, as the bias says": NodeCase(
        "BatchNormalization",
        {
            "x": np.zeros((2, 0), np.float32),
            "scale": np.zeros(0, np.float32),
            "mean": np.zeros(0, np.float32),
            "v": np.zeros(0, np.float32),
        },
        {"bias": np.zeros(0, np.float32)},
        operands="x scale bias mean v",
        options=DYNAMIC | {"opset": 14, "expected": [np.zeros((2, 0), np.float32)]},
    ),
    "LpNormalization of f16 whose sum is infinite": NodeCase(
        "LpNormalization", {}, {"x": np.array([65504, 0, -60000, 1], np.float16)}, attributes={"p": 1}, options=STATIC
    ),
    "LpNormalization of small numbers": NodeCase(
        "LpNormalization", {"x": np.array([3e-26, 0, -1e-26], np.float32)}, attributes={"p": 1}, options=COMPLETE | STATIC
    ),
    "LpNormalization of zeros": NodeCase("LpNormalization", {"x": ZERO_MATRIX}, attributes={"p": 1}, options=COMPLETE | STATIC),
}


@pytest.mark.parametrize("case", NODES.values(), ids=NODES)
def test_node(case: NodeCase) -> None:
    case.check()


def test_normalization_of_equal_halves() -> None:
    """With an epsilon that f16 does not have, as that of BERT."""
    inputs = {"x": np.full((2, 4), 2.738, np.float16), "s": np.ones(4, np.float16), "b": np.arange(4).astype(np.float16)}
    check([node("LayerNormalization", ["x", "s", "b"], ["y"], epsilon=1e-12)], inputs, atol=1e-2)
