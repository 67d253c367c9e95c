"""Linear models and support vector machines of the domain ai.onnx.ml, against ONNX Runtime."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import build, check, convert, node
from tests.numerical.runtime import Array

RANDOM = np.random.default_rng(22)
FEATURES = 4
TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]
TOLERANCES = dict.fromkeys(TRANSFORMS, 1e-5) | {"PROBIT": 1e-3}
KERNELS = {"LINEAR": [0.0, 0.0, 0.0], "POLY": [0.3, 0.5, 3.0], "RBF": [0.4, 0.0, 3.0], "SIGMOID": [0.2, 0.1, 0.0]}

ml = partial(node, domain="ai.onnx.ml")

ROWS = RANDOM.standard_normal((23, FEATURES)).astype(np.float32)


def drawn(*shape: int) -> list[float]:
    return RANDOM.standard_normal(shape).reshape(-1).tolist()


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("targets", [1, 2, 3])
def test_linear_regressor(transform: str, targets: int) -> None:
    lists = {"coefficients": drawn(targets, FEATURES), "intercepts": drawn(targets)}
    model = [ml("LinearRegressor", ["x"], ["y"], targets=targets, post_transform=transform, **lists)]
    check(model, {"x": ROWS}, operations=20, atol=TOLERANCES[transform])
    check(model, {"x": ROWS[:1]}, atol=TOLERANCES[transform], forms=["dynamic"])


def test_linear_regressor_without_intercepts() -> None:
    model = [ml("LinearRegressor", ["x"], ["y"], targets=2, coefficients=drawn(2, FEATURES))]
    check(model, {"x": ROWS}, operations=1)
    check(model, {"x": ROWS[0]}, forms=["static", "rank"])


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("labels", [[4, 2, 7], [0, 1, 2], ["a", "bc", ""]])
def test_linear_classifier(transform: str, labels: list[Any]) -> None:
    lists = {"coefficients": drawn(3, FEATURES), "intercepts": drawn(3)}
    name = "classlabels_strings" if isinstance(labels[0], str) else "classlabels_ints"
    model = [ml("LinearClassifier", ["x"], ["y", "z"], post_transform=transform, **{name: labels}, **lists)]
    check(model, {"x": ROWS}, atol=TOLERANCES[transform], forms=["static", "dynamic"])


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("labels", [[4, 2], ["a", "bc"]])
def test_linear_classifier_of_one_score(transform: str, labels: list[Any]) -> None:
    name = "classlabels_strings" if isinstance(labels[0], str) else "classlabels_ints"
    lists = {"coefficients": drawn(FEATURES), "intercepts": drawn(1), name: labels}
    model = [ml("LinearClassifier", ["x"], ["y", "z"], post_transform=transform, **lists)]
    if transform == "PROBIT":
        with pytest.raises(ConversionError, match="not defined"):
            check(model, {"x": ROWS})
    else:
        check(model, {"x": ROWS}, atol=TOLERANCES[transform], forms=["static", "dynamic"])


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.int32])
def test_linear_classifier_of_other_types(dtype: type) -> None:
    lists = {"coefficients": drawn(3, FEATURES), "intercepts": drawn(3), "classlabels_ints": [0, 1, 2]}
    check([ml("LinearClassifier", ["x"], ["y", "z"], **lists)], {"x": (ROWS * 3).astype(dtype)})


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("one_class", [0, 1])
def test_support_vector_regressor(kernel: str, one_class: int) -> None:
    lists = {"coefficients": drawn(6), "support_vectors": drawn(6, FEATURES), "rho": drawn(1), "kernel_params": KERNELS[kernel]}
    model = [ml("SVMRegressor", ["x"], ["y"], n_supports=6, kernel_type=kernel, one_class=one_class, **lists)]
    check(model, {"x": ROWS})


def test_linear_support_vector_regressor() -> None:
    check([ml("SVMRegressor", ["x"], ["y"], coefficients=drawn(FEATURES), rho=drawn(1), kernel_params=[0.0, 0.0, 0.0])], {"x": ROWS})


@pytest.mark.parametrize("gamma", [1e-4, 0.5])
def test_large_features_with_a_narrow_kernel(gamma: float) -> None:
    vectors = RANDOM.standard_normal((6, FEATURES)) * 300 + 1000
    lists = {"coefficients": drawn(6), "support_vectors": vectors.reshape(-1).tolist(), "rho": [0.0]}
    model = [ml("SVMRegressor", ["x"], ["y"], n_supports=6, kernel_type="RBF", kernel_params=[gamma, 0.0, 3.0], **lists)]
    check(model, {"x": vectors.astype(np.float32) + ROWS[:6] / 10})


def machine(classes: int, kernel: str, *, probabilities: bool = False, labels: list[Any] | None = None, **others: Any) -> list[Any]:
    """A classifier with random support vectors."""
    sizes = [int(size) for size in RANDOM.integers(1, 4, classes)]
    count, pairs = sum(sizes), classes * (classes - 1) // 2
    labels = labels or list(range(3, 3 + classes))
    lists: dict[str, Any] = {
        "vectors_per_class": sizes,
        "support_vectors": drawn(count, FEATURES),
        "coefficients": drawn(classes - 1, count),
        "rho": drawn(pairs),
        "kernel_params": KERNELS[kernel],
        "classlabels_strings" if isinstance(labels[0], str) else "classlabels_ints": labels,
    }
    if probabilities:
        lists |= {"prob_a": [-abs(value) for value in drawn(pairs)], "prob_b": drawn(pairs)}
    return [ml("SVMClassifier", ["x"], ["y", "z"], kernel_type=kernel, **lists, **others)]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_support_vector_classifier(kernel: str, classes: int) -> None:
    check(machine(classes, kernel), {"x": ROWS}, rtol=1e-3, forms=["static", "dynamic"])


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_probabilities(classes: int) -> None:
    check(machine(classes, "RBF", probabilities=True), {"x": ROWS})
    check(machine(classes, "RBF", probabilities=True, labels=[*"abcde"[:classes]]), {"x": ROWS}, forms=["dynamic"])


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("probabilities", [True, False])
def test_transforms_of_support_vector_classifiers(transform: str, classes: int, probabilities: bool) -> None:
    model = machine(classes, "RBF", probabilities=probabilities, post_transform=transform)
    if transform == "PROBIT" and classes == 2 and not probabilities:
        with pytest.raises(ConversionError, match="not defined"):
            check(model, {"x": ROWS})
    else:
        check(model, {"x": ROWS}, atol=TOLERANCES[transform], forms=["dynamic"])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("positive", [True, False])
def test_classifier_without_support_vectors(classes: int, positive: bool) -> None:
    coefficients = [abs(value) if positive else value for value in drawn(classes, FEATURES)]
    lists = {"coefficients": coefficients, "rho": drawn(1), "classlabels_ints": [7, 4, 9][:classes], "kernel_params": KERNELS["LINEAR"]}
    check([ml("SVMClassifier", ["x"], ["y", "z"], **lists)], {"x": ROWS}, forms=["dynamic"])


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.int32])
def test_support_vector_classifier_of_other_types(dtype: type) -> None:
    check(machine(3, "RBF"), {"x": (ROWS * 3).astype(dtype)}, forms=["dynamic"])


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean"])
@pytest.mark.parametrize("constant", [True, False])
def test_distances(metric: str, constant: bool) -> None:
    rows = RANDOM.standard_normal((6, FEATURES)).astype(np.float32) + 5
    model = [node("CDist", ["x", "r"], ["y"], domain="com.microsoft", metric=metric)]
    check(model, {"x": ROWS + 5} | ({} if constant else {"r": rows}), constants={"r": rows} if constant else None, rtol=1e-3)


REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "not rows for 2": ("LinearRegressor", {"targets": 2, "coefficients": [1.0, 2.0, 3.0]}),
    "has 1 class labels": ("LinearClassifier", {"coefficients": [1.0] * 8, "intercepts": [1.0, 2.0], "classlabels_ints": [1]}),
    "kernel 'ROUND' does not exist": (
        "SVMRegressor",
        {"n_supports": 1, "kernel_type": "ROUND", "support_vectors": [1.0], "coefficients": [1.0], "rho": [0.0]},
    ),
    "no class labels": ("SVMClassifier", {"coefficients": [1.0], "rho": [0.0]}),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_is_no_model(reason: str, tmp_path: Path) -> None:
    kind, attributes = REFUSED[reason]
    outputs: list[str] = ["y"] if kind.endswith("Regressor") else ["y", "z"]
    rows: Array = ROWS
    with pytest.raises(ConversionError, match=reason):
        convert(build([ml(kind, ["x"], outputs, **attributes)], {"x": rows}), tmp_path)
