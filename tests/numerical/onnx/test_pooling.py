"""Pooling against ONNX Runtime."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import build, check, convert, node
from tests.numerical.onnx.node_case import COMPLETE, EVALUATED, STATIC, WITH_RANK, NodeCase, normal_numbers

RANDOM = np.random.default_rng(4)


def values(*shape):
    """Random f32 values."""
    return RANDOM.standard_normal(shape).astype(np.float32)


WINDOWS = {
    "1d": ((2, 3, 9), {"kernel_shape": [3]}),
    "2d": ((2, 3, 9, 8), {"kernel_shape": [3, 2], "strides": [2, 1]}),
    "3d": ((1, 2, 6, 5, 7), {"kernel_shape": [2, 3, 2], "strides": [2, 1, 3]}),
    "pads": ((1, 3, 9, 8), {"kernel_shape": [3, 3], "pads": [1, 0, 2, 1], "strides": [2, 2]}),
    "same upper": ((1, 3, 9, 8), {"kernel_shape": [3, 2], "auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    "same lower": ((1, 3, 9, 8), {"kernel_shape": [3, 2], "auto_pad": "SAME_LOWER", "strides": [2, 2]}),
    "valid": ((1, 3, 9, 8), {"kernel_shape": [3, 2], "auto_pad": "VALID"}),
}
CEIL = {
    "ceil": ((1, 3, 9, 8), {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
    "ceil and pads": ((1, 3, 9, 8), {"kernel_shape": [3, 3], "strides": [2, 3], "pads": [1, 1, 1, 1], "ceil_mode": 1}),
    "ceil, a window in the padding": ((1, 1, 2, 2), {"kernel_shape": [1, 1], "strides": [2, 2], "pads": [0, 0, 0, 0], "ceil_mode": 1}),
}
DILATED = {"dilations": ((1, 3, 9, 8), {"kernel_shape": [3, 2], "dilations": [2, 3], "pads": [1, 0, 1, 1]})}


@pytest.mark.parametrize("opset", [7, 8, 10, 12, 22])
@pytest.mark.parametrize("name", WINDOWS)
def test_max_pool(name, opset):
    data, attributes = WINDOWS[name]
    forms = ["static", "dynamic", "rank"] if opset == 12 else ["static"]
    check([node("MaxPool", ["x"], ["y"], **attributes)], {"x": values(*data)}, opset=opset, forms=forms, operations=1)


@pytest.mark.parametrize("name", CEIL | DILATED)
def test_max_pool_with_ceil_mode_and_dilations(name):
    data, attributes = (CEIL | DILATED)[name]
    check([node("MaxPool", ["x"], ["y"], **attributes)], {"x": values(*data)}, operations=1)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.float16, np.float64])
def test_max_pool_of_other_types(dtype):
    check([node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2])], {"x": (values(1, 2, 5, 5) * 10).clip(0, 99).astype(dtype)})


@pytest.mark.parametrize("storage_order", [0, 1])
@pytest.mark.parametrize("name", ["1d", "2d", "3d", "pads", "same upper", "dilations"])
def test_max_pool_with_indices(name, storage_order):
    data, attributes = (WINDOWS | DILATED)[name]
    given = node("MaxPool", ["x"], ["y", "i"], storage_order=storage_order, **attributes)
    forms = ["static"] if name == "same upper" else ["static", "dynamic", "rank"]
    check([given], {"x": values(*data)}, outputs=["y", "i"], forms=forms)
    check([given], {"x": values(*data)}, outputs=["i"], forms=["static"])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_index_of_the_smallest_number(dtype):
    x = np.array([1, 5, 2, 4, 3, np.iinfo(dtype).min], dtype).reshape(1, 1, 2, 3)
    check([node("MaxPool", ["x"], ["y", "i"], kernel_shape=[1, 1])], {"x": x}, outputs=["y", "i"], forms=["static"])


def test_max_pool_with_indices_and_automatic_padding_of_dynamic_sizes() -> None:
    data, attributes = WINDOWS["same upper"]
    check([node("MaxPool", ["x"], ["y", "i"], **attributes)], {"x": values(*data)}, outputs=["y", "i"], forms=["dynamic"])


@pytest.mark.parametrize("include", [0, 1])
@pytest.mark.parametrize("opset", [7, 10, 11, 19, 22])
@pytest.mark.parametrize("name", WINDOWS)
def test_average_pool(name, opset, include):
    data, attributes = WINDOWS[name]
    forms = ["static", "dynamic", "rank"] if opset == 19 else ["static"]
    given = node("AveragePool", ["x"], ["y"], count_include_pad=include, **attributes)
    check([given], {"x": values(*data)}, opset=opset, forms=forms, operations=1)


@pytest.mark.parametrize("include", [0, 1])
@pytest.mark.parametrize("name", CEIL | DILATED)
def test_average_pool_with_ceil_mode_and_dilations(name, include):
    data, attributes = (CEIL | DILATED)[name]
    given = node("AveragePool", ["x"], ["y"], count_include_pad=include, **attributes)
    check([given], {"x": values(*data)}, operations=1 + include, reference="onnx" if name in CEIL else "onnxruntime")


@pytest.mark.parametrize("dilations", [[1, 1], [1, 2]], ids=str)
def test_windows_that_start_in_padding_that_counts(dilations):
    """The first axis has a window that starts in the padding at the end, the second one that ends after it."""
    attributes = {"ceil_mode": 1, "count_include_pad": 1, "kernel_shape": [3, 2], "pads": [0, 0, 2, 0], "strides": [3, 2]}
    data = {"x": RANDOM.normal(size=(1, 2, 3, 4)).astype(np.float32)}
    check([node("AveragePool", ["x"], ["y"], dilations=dilations, **attributes)], data, opset=22)


def test_what_ceil_mode_adds_does_not_count():
    attributes = {"ceil_mode": 1, "count_include_pad": 1, "kernel_shape": [2, 3], "pads": [1, 0, 0, 2], "strides": [3, 2]}
    check([node("AveragePool", ["x"], ["y"], **attributes)], {"x": values(1, 2, 6, 7)}, opset=22, forms=["static"])


@pytest.mark.parametrize("kind", ["GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"])
@pytest.mark.parametrize("rank", [3, 4, 5])
def test_global_pool(kind, rank):
    check([node(kind, ["x"], ["y"])], {"x": values(2, 3, 5, 4, 6)[(..., *[0] * (5 - rank))]}, operations=1)


@pytest.mark.parametrize(("p", "operations"), [(1, 1), (2, 1), (3, 4)])
def test_global_lp_pool(p, operations):
    check([node("GlobalLpPool", ["x"], ["y"], p=p)], {"x": values(2, 3, 5, 4)}, operations=operations)


@pytest.mark.parametrize(("p", "operations"), [(1, 3), (2, 4), (3, 5)])
@pytest.mark.parametrize("name", ["1d", "2d", "3d", "pads", "valid"])
def test_lp_pool(name, p, operations):
    data, attributes = WINDOWS[name]
    check([node("LpPool", ["x"], ["y"], p=p, **attributes)], {"x": values(*data)}, opset=11, operations=operations)


@pytest.mark.parametrize("name", ["same upper", "same lower"])
def test_lp_pool_with_automatic_padding(name):
    data, attributes = WINDOWS[name]
    check([node("LpPool", ["x"], ["y"], **attributes)], {"x": values(*data)}, opset=18)


@pytest.mark.parametrize("name", ["ceil", "ceil and pads", "dilations"])
def test_lp_pool_with_ceil_mode_and_dilations(name):
    data, attributes = (CEIL | DILATED)[name]
    forms = ["static"] if name == "ceil and pads" else ["static", "dynamic", "rank"]
    check([node("LpPool", ["x"], ["y"], **attributes)], {"x": values(*data)}, opset=18, forms=forms)


def test_lp_pool_with_a_window_that_may_start_in_the_padding(tmp_path):
    data, attributes = CEIL["ceil and pads"]
    model = build([node("LpPool", ["x"], ["y"], **attributes)], {"x": values(*data)}, form="dynamic")
    with pytest.raises(ConversionError, match="may start in the padding"):
        convert(model, tmp_path)


def test_max_unpool():
    nodes = [
        node("MaxPool", ["x"], ["p", "i"], kernel_shape=[2, 2], strides=[2, 2]),
        node("MaxUnpool", ["p", "i"], ["y"], kernel_shape=[2, 2], strides=[2, 2]),
    ]
    check(nodes, {"x": values(2, 3, 6, 4)}, opset=11)


def test_max_unpool_to_a_larger_shape():
    pooled = np.array([[[[5, 6], [7, 8]]]], dtype=np.float32)
    indices = np.array([[[[5, 7], [13, 15]]]])
    expected = np.zeros((1, 1, 5, 5), dtype=np.float32)
    expected[0, 0, 1:4:2, 1:4:2] = pooled[0, 0]
    given = node("MaxUnpool", ["p", "i", "s"], ["y"], kernel_shape=[2, 2], strides=[2, 2])
    check([given], {"p": pooled, "i": indices}, constants={"s": np.array([1, 1, 5, 5])}, expected=[expected])
    check([given], {"p": pooled, "i": indices, "s": np.array([1, 1, 5, 5])}, expected=[expected])


real = normal_numbers(np.random.default_rng(14))

HALVES = (np.arange(24).reshape(2, 3, 4) * 2).astype(np.float16)

NODES: dict[str, NodeCase] = {
    "MaxPool of bf16 with dilations": NodeCase(
        "MaxPool",
        {"x": real(1, 2, 6, 5).astype(ml_dtypes.bfloat16)},
        attributes={"kernel_shape": [2, 2], "dilations": [2, 1]},
        options=EVALUATED | WITH_RANK | {"opset": 22},
    ),
    "AveragePool with ceil_mode and padding that counts": NodeCase(
        "AveragePool",
        {"x": real(2, 2, 4, 4, 3)},
        attributes={"ceil_mode": 1, "count_include_pad": 1, "kernel_shape": [3, 2, 1], "pads": [0, 1, 0, 1, 0, 0], "strides": [2, 2, 3]},
        options=STATIC | {"opset": 19},
    ),
    "GlobalLpPool whose powers f16 does not have": NodeCase(
        "GlobalLpPool", {}, {"x": HALVES}, attributes={"p": 3}, options=COMPLETE | STATIC
    ),
    "LpPool whose powers f16 does not have": NodeCase(
        "LpPool", {}, {"x": HALVES}, attributes={"p": 3, "kernel_shape": [2]}, options=COMPLETE | STATIC | {"opset": 22}
    ),
}


@pytest.mark.parametrize("case", NODES.values(), ids=NODES)
def test_node(case: NodeCase) -> None:
    case.check()
