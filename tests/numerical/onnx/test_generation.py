"""Operations of ONNX that make tensors: constants of a shape, ranges, identity matrices, random numbers, windows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import build, check, convert, node
from tests.numerical.onnx.node_case import EVALUATED, WITH_RANK, NodeCase
from tests.numerical.runtime import Array, run

TensorProto = pytest.importorskip("onnx").TensorProto


def tensor(dtype: Any, value: Any) -> Any:
    """A tensor of one element."""
    import onnx

    return onnx.numpy_helper.from_array(np.array([value], dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_, np.float16])
@pytest.mark.parametrize("shape", [[2, 3], [], [0, 2]])
def test_constant_of_shape(dtype: Any, shape: list[int]) -> None:
    nodes = [node("ConstantOfShape", ["s"], ["c"], value=tensor(dtype, 1)), node("Identity", ["c"], ["y"])]
    check(nodes, {"x": np.ones(1, np.float32)}, constants={"s": np.array(shape, np.int64)}, operations=0, forms=["static"])
    check([nodes[0]], {"s": np.array(shape, np.int64)}, outputs=["c"], operations=1, forms=["static"])


def test_large_constant_of_shape_is_made_at_run_time() -> None:
    nodes = [node("ConstantOfShape", ["s"], ["y"])]
    check(nodes, {"x": np.ones(1, np.float32)}, constants={"s": np.array([64, 64])}, operations=1, forms=["static"])


@pytest.mark.parametrize(("start", "limit", "delta"), [(1, 10, 3), (5, -5, -2), (0, 0, 1)])
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.float32])
def test_range(start: int, limit: int, delta: int, dtype: Any) -> None:
    values = {"start": np.array(start, dtype), "limit": np.array(limit, dtype), "delta": np.array(delta, dtype)}
    is_exact = dtype is not np.float32
    check([node("Range", list(values), ["y"])], values, opset=11, operations=5 if is_exact else None, forms=["static"])
    constants = {name: values.pop(name) for name in ("start", "delta")}
    check(
        [node("Range", ["start", "limit", "delta"], ["y"])],
        values,
        constants=constants,
        opset=11,
        operations=2 if is_exact or delta != 3 else None,
        forms=["static"],
    )


@pytest.mark.parametrize(
    "bounds",
    [
        (0, 1, 0.01),
        (0, 1.1, 0.1),
        (0, 0.3, 0.1),
        (0, 2.1, 0.7),
        (-1.2, 1.2, 0.4),
        (1, 0, -0.1),
        (1, -2.2, -0.4),
        (0, 5000, 0.7),
        (1, 0, 0.1),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lengths_of_ranges_of_floats(bounds: tuple[float, ...], dtype: Any) -> None:
    """ONNX Runtime divides in f64, also what is f32: 0.3 / 0.1 is a little more than 3."""
    values = dict(zip(("start", "limit", "delta"), (np.array(each, dtype) for each in bounds), strict=True))
    nodes = [node("Range", ["start", "limit", "delta"], ["y"])]
    x = {"x": np.ones(2, np.float32)}
    check([*nodes, node("Identity", ["x"], ["z"])], x, constants=values, outputs=["y", "z"], opset=11, forms=["static"], rtol=1e-4)
    if dtype is np.float32:
        check(nodes, values, opset=11, forms=["static"], rtol=1e-4)
        constants = {name: values.pop(name) for name in ("start", "delta")}
        check(nodes, values, constants=constants, opset=11, forms=["static"], rtol=1e-4)


@pytest.mark.parametrize("dtype", [None, "FLOAT", "INT64", "DOUBLE", "BOOL"])
@pytest.mark.parametrize("k", [0, 1, -2])
def test_eye_like(dtype: str | None, k: int) -> None:
    attributes = {"k": k} | ({} if dtype is None else {"dtype": getattr(TensorProto, dtype)})
    x = np.zeros((3, 4), np.int32)
    expected = [np.eye(3, 4, k, dtype={None: "int32", "DOUBLE": "float64"}.get(dtype, (dtype or "").lower()))]
    dtypes = {"FLOAT": np.float32}
    expected = [expected[0].astype(dtypes.get(dtype or "", expected[0].dtype))] if dtype != "FLOAT" else [np.eye(3, 4, k, dtype=np.float32)]
    check([node("EyeLike", ["x"], ["y"], **attributes)], {"x": x}, opset=9, expected=expected, forms=["static", "dynamic"])


def drawn(tmp_path: Path, kind: str, inputs: dict[str, Array], **attributes: Any) -> Array:
    """What a random operation draws."""
    model = build([node(kind, list(inputs), ["y"], **attributes)], inputs or {"unused": np.ones(1, np.float32)}, opset=15, form="dynamic")
    return run(convert(model, tmp_path), inputs or {"unused": np.ones(1, np.float32)})[0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("seed", [{}, {"seed": 7.0}])
def test_uniform_numbers(tmp_path: Path, dtype: Any, seed: dict[str, float]) -> None:
    number = {np.float32: 1, np.float64: 11, np.float16: 10}[dtype]
    numbers = drawn(tmp_path, "RandomUniform", {}, shape=[50, 100], low=-2.0, high=4.0, dtype=number, **seed)
    like = drawn(tmp_path, "RandomUniformLike", {"x": np.ones((50, 100), dtype)}, low=-2.0, high=4.0, **seed)
    for actual in (numbers, like):
        assert actual.shape == (50, 100)
        assert actual.dtype == dtype
        assert actual.min() >= -2
        assert actual.max() <= 4
        assert abs(float(actual.astype(np.float64).mean()) - 1) < 0.2


@pytest.mark.parametrize("seed", [{}, {"seed": 3.0}])
def test_normal_numbers(tmp_path: Path, seed: dict[str, float]) -> None:
    numbers = drawn(tmp_path, "RandomNormal", {}, shape=[100, 100], mean=3.0, scale=2.0, **seed)
    like = drawn(tmp_path, "RandomNormalLike", {"x": np.ones((100, 100), np.float64)}, mean=3.0, scale=2.0, **seed)
    assert numbers.dtype == np.float32
    assert like.dtype == np.float64
    for actual in (numbers, like):
        assert np.isfinite(actual).all()
        assert abs(actual.mean() - 3) < 0.15
        assert abs(actual.std() - 2) < 0.15
        assert abs(np.mean((actual - 3) ** 3)) < 1.5


def test_bernoulli(tmp_path: Path) -> None:
    probability = np.repeat(np.array([[0.0], [0.25], [1.0]], np.float32), 4000, axis=1)
    actual = drawn(tmp_path, "Bernoulli", {"x": probability}, dtype=TensorProto.INT32, seed=1.0)
    assert actual.dtype == np.int32
    np.testing.assert_allclose(actual.mean(axis=1), [0, 0.25, 1], atol=0.05)


def test_multinomial(tmp_path: Path) -> None:
    logits = np.log(np.array([[0.25, 0.75, 1e-30], [1e-30, 1e-30, 1.0]], np.float32))
    actual = drawn(tmp_path, "Multinomial", {"x": logits}, sample_size=4000, dtype=TensorProto.INT64, seed=1.0)
    assert actual.dtype == np.int64
    assert actual.shape == (2, 4000)
    assert (actual[1] == 2).all()
    assert abs(actual[0].mean() - 0.75) < 0.05


@pytest.mark.parametrize("kind", ["HannWindow", "HammingWindow", "BlackmanWindow"])
@pytest.mark.parametrize("periodic", [0, 1])
def test_windows(kind: str, periodic: int) -> None:
    size = np.array(10, np.int64)
    for dtype in (1, 11):
        nodes = [node(kind, ["n"], ["y"], periodic=periodic, output_datatype=dtype)]
        check(nodes, {"n": size}, opset=17, forms=["static"], reference="onnx", atol=1e-5)
        check(nodes, {"x": np.ones(1, np.float32)}, constants={"n": size}, opset=17, forms=["static"], reference="onnx", operations=0)


@pytest.mark.parametrize(
    ("kind", "attributes", "reason"),
    [
        ("RandomUniformLike", {"dtype": 6}, "floating-point"),
        ("EyeLike", {"dtype": 14}, "data type that the operation sets do not have"),
        ("Multinomial", {"dtype": 1}, "neither i32 nor i64"),
    ],
)
def test_errors(kind: str, attributes: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConversionError, match=reason):
        check([node(kind, ["x"], ["y"], **attributes)], {"x": np.ones((2, 2), np.float32)}, expected=[])


RANGES = {
    f"Range of {start}, {limit}, {delta}": NodeCase("Range", {"a": np.array(start), "b": np.array(limit), "c": np.array(delta)})
    for start, limit, delta in ((0, 5, -1), (0, -5, 1), (3, 3, 1), (0, 5, 2), (5.0, 0.0, -2.0), (0.0, 5.0, -2.0))
}

NODES: dict[str, NodeCase] = {
    **RANGES,
    "Dropout of f8": NodeCase(
        "Dropout",
        {"x": np.array([1.25, -1.5], ml_dtypes.float8_e5m2), "training": np.array(False)},
        operands="x - training",
        options=EVALUATED | WITH_RANK | {"opset": 24},
    ),
}


@pytest.mark.parametrize("case", NODES.values(), ids=NODES)
def test_node(case: NodeCase) -> None:
    case.check()
