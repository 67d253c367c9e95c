"""The rules that recognise faults of the plugin: each recognises its fault and nothing else."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import helper

from tests.fuzz.case import Contents
from tests.fuzz.onnx_model import OnnxModel
from tests.fuzz.plugin_faults import RULES, fault_of
from tests.fuzz.reference_faults import runtime_is_wrong
from tests.fuzz.wrong_result import Wrong
from tests.numerical.targets.models import FAULTS

NAN, INF, LARGEST = np.nan, np.inf, np.finfo(np.float32).max


def explained(kind: str, inputs: list[Any], actual: Any, wanted: Any, rank_is_known: bool = True) -> str:
    """The fault that explains that a node computes `actual` instead of `wanted`."""
    arrays = {f"x{index}": np.asarray(value) for index, value in enumerate(inputs)}
    declared = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), list(value.shape) if rank_is_known else None)
        for name, value in arrays.items()
    ]
    nodes = [helper.make_node(kind, list(arrays), ["y"])]
    graph = helper.make_graph(nodes, "g", declared, [helper.make_empty_tensor_value_info("y")])
    model = OnnxModel(helper.make_model(graph), {name: value.shape for name, value in arrays.items()})
    return fault_of(model, arrays, [np.asarray(actual)], [np.asarray(wanted)])


def single(*values: float) -> Any:
    return np.array(values, np.float32)


@pytest.mark.parametrize(
    ("name", "kind", "inputs", "actual", "wanted"),
    [
        ("f64-infinity", "Neg", [np.array([INF, 1])], np.array([-float(LARGEST), -1]), np.array([-INF, -1])),
        ("f64-infinity", "IsInf", [np.array([INF, 1])], np.array([False, False]), np.array([True, False])),
        ("f64-infinity", "is_finite", [np.array([INF, 1])], np.array([True, True]), np.array([False, True])),
        ("u32-constant", "BitwiseNot", [np.array([8], np.uint32)], np.array([2**31 - 1], np.uint32), np.array([2**32 - 9], np.uint32)),
        ("i32-quotient", "Div", [np.array([1505919582]), np.array([74])], np.array([20350265]), np.array([20350264])),
        ("i32-remainder", "Mod", [np.array([1505919582]), np.array([74])], np.array([20]), np.array([46])),
        ("relu-nan", "Relu", [single(NAN, 1)], single(0, 1), single(NAN, 1)),
        ("reduce-nan", "ReduceMin", [single(-INF, NAN, -2.5)], np.float32(-2.5), np.float32(-INF)),
        ("reduce-max-infinity", "ReduceMax", [single(-INF)], np.float32(-LARGEST), np.float32(-INF)),
        ("mod-quotient", "Mod", [single(1e8), single(0.3)], single(0), single(0.07)),
        ("mod-infinity", "Mod", [single(5.5), single(INF)], single(NAN), single(5.5)),
        ("unique-empty", "Unique", [np.zeros((0, 1), np.float32)], np.zeros(0, np.int64), np.zeros(1, np.int64)),
        ("max-pool-nan", "MaxPool", [single(NAN, 1).reshape(1, 1, 2)], single(1).reshape(1, 1, 1), single(NAN).reshape(1, 1, 1)),
        ("scatter-nan", "ScatterND", [single(1), np.array([[0]]), single(NAN)], single(1), single(NAN)),
        ("i32-select", "Where", [np.array([True]), np.array([2**24 + 1]), np.array([0])], np.array([2**24]), np.array([2**24 + 1])),
        ("max-pool-infinity", "MaxPool", [single(-INF).reshape(1, 1, 1)], single(-LARGEST), single(-INF)),
        ("convolution-of-one-channel", "Conv", [np.ones((2, 1, 3, 2), np.float32)], *np.ones((2, 2, 1, 3, 1)) * [[[[[1]]]], [[[[2]]]]]),
        ("i64-width", "Slice", [single(1, 2), np.array([2**62])], single(1, 2), single()),
        ("gelu-infinity", "Gelu", [single(INF, 1)], single(NAN, 1), single(INF, 1)),
        ("f32-quotient", "DynamicQuantizeLinear", [single(-16.5, 16.5)], np.array([0, 255], np.uint8), np.array([0, 254], np.uint8)),
        ("quantize-middle", "QuantizeLinear", [single(12.5), single(1), np.array([1], np.uint8)], *np.array([[14], [13]], np.uint8)),
        ("f8-rounding", "Cast", [single(-3.6253185)], *np.array([[-3.5], [-3.75]], ml_dtypes.float8_e4m3fn)),
        (
            "f32-quotient",
            "QLinearMatMul",
            [np.array([[5]], np.int8), single(0.5), np.int8(0), np.array([[5]], np.int8), single(1), np.int8(0), single(1), np.int8(0)],
            *np.array([[[13]], [[12]]], np.int8),
        ),
        ("attention-keys", "Attention", [np.ones((1, 2, 1, 1), ml_dtypes.bfloat16)] * 2, single(NAN), single(1)),
        ("average-pool-empty", "AveragePool", [np.zeros((2, 1, 0), np.float32)], single(3), single(NAN)),
        ("top-k-empty", "TopK", [single(1), np.array([0])], np.zeros((0, 0)), np.zeros((1, 0))),
        ("transpose-empty", "Conv", [np.ones((5, 2, 1, 3)), np.ones((1, 2, 3, 3))], np.zeros((1, 0, 0, 1)), np.zeros((1, 4, 0, 1))),
        ("transpose-empty", "ExtractImagePatches", [np.ones((1, 2, 2, 1))], np.zeros((0, 0, 0, 0)), np.zeros((1, 2, 0, 3))),
        ("strings-empty", "LabelEncoder", [np.zeros((0, 2), object)], np.zeros((0, 0)), np.zeros((0, 2))),
    ],
)
def test_a_fault_is_recognised(name: str, kind: str, inputs: list[Any], actual: Any, wanted: Any) -> None:
    assert explained(kind, inputs, actual, wanted) == name


@pytest.mark.parametrize(
    ("kind", "inputs", "actual", "wanted"),
    [
        ("Neg", [np.array([INF, 1])], np.array([-float(LARGEST), -2]), np.array([-INF, -1])),
        ("Neg", [single(INF)], single(-LARGEST), single(-INF)),
        ("Div", [np.array([150]), np.array([74])], np.array([1]), np.array([2])),
        ("Div", [np.array([1505919582]), np.array([74])], np.array([1]), np.array([20350264])),
        ("Mod", [np.array([15]), np.array([4])], np.array([2]), np.array([3])),
        ("Mod", [single(5.5), single(3)], single(0), single(2.5)),
        ("Relu", [single(NAN, 1)], single(0, 2), single(NAN, 1)),
        ("Relu", [single(1)], single(2), single(1)),
        ("ReduceMin", [single(-INF, 1)], np.float32(1), np.float32(-INF)),
        ("Add", [single(1), np.ones((1, 1), np.float32)], single(2), np.full((1, 1), 2, np.float32)),
        ("Unique", [single(1)], np.zeros(0, np.int64), np.zeros(1, np.int64)),
        ("QuantizeLinear", [single(12.3), single(1), np.array([1], np.uint8)], *np.array([[14], [13]], np.uint8)),
        ("DynamicQuantizeLinear", [single(-16, 16.6)], np.array([0, 255], np.uint8), np.array([0, 254], np.uint8)),
        (
            "QLinearMatMul",
            [np.array([[5]], np.int8), single(0.6), np.int8(0), np.array([[5]], np.int8), single(1), np.int8(0), single(1), np.int8(0)],
            *np.array([[[16]], [[15]]], np.int8),
        ),
        ("Attention", [np.ones((1, 2, 1, 1), np.float32)] * 2, single(NAN), single(1)),
        ("Cast", [single(-3.7)], *np.array([[-3.5], [-3.75]], ml_dtypes.float8_e4m3fn)),
        ("LabelEncoder", [np.zeros((0, 2), object)], np.zeros((1, 2)), np.zeros((0, 2))),
        ("Transpose", [np.zeros((0, 2), np.float32)], np.zeros(0, np.float32), np.zeros((2, 0), np.float32)),
        ("AveragePool", [np.zeros((0, 1, 2), np.float32)], np.ones((1, 1, 1), np.float32), np.zeros((0, 1, 1), np.float32)),
        ("MaxPool", [single(NAN, 1, 2, 3).reshape(1, 1, 4)], single(1, 5).reshape(1, 1, 2), single(1, 3).reshape(1, 1, 2)),
        ("GlobalMaxPool", [single(NAN, 1, 2, 3).reshape(1, 2, 2)], single(1, 5).reshape(1, 2, 1), single(1, 3).reshape(1, 2, 1)),
        ("LabelEncoder", [np.zeros((1, 2), object)], np.zeros((0, 2)), np.zeros((1, 2))),
        ("ExtractImagePatches", [np.ones((1, 2, 2, 1))], np.zeros((0, 0, 0, 0)), np.ones((1, 2, 2, 1))),
    ],
)
def test_another_difference_is_not(kind: str, inputs: list[Any], actual: Any, wanted: Any) -> None:
    assert explained(kind, inputs, actual, wanted) == ""


SQUARE, ROWS = np.ones((2, 2), np.float32), single(1, 2).reshape(1, 2)
IMAGE = np.ones((1, 2, 3, 3), np.float32)


@pytest.mark.parametrize(
    ("name", "kinds", "operands", "actual", "wanted"),
    [
        ("two-columns", "MatMul Relu Add", [SQUARE, SQUARE, ROWS], SQUARE, SQUARE + ROWS),
        ("", "MatMul Relu Add", [np.ones((2, 3), np.float32), np.ones((3, 2), np.float32), single(1, 2)], SQUARE, SQUARE + ROWS),
        ("", "MatMul Add", [SQUARE, SQUARE, ROWS], SQUARE, SQUARE + ROWS),
        ("soft-plus-overflow", "Exp Add Log", [single(100, 1)], single(100, 1), single(INF, 1)),
        ("", "Exp Add Log", [single(80, 1)], single(80, 1), single(INF, 1)),
        ("gelu-infinity", "Erf Mul Add Div", [single(INF)], single(NAN), single(INF)),
        ("normalization-axes", "ReduceMean Sqrt Div", [SQUARE, np.array([0]), np.array([1])], SQUARE, SQUARE + ROWS),
        ("", "ReduceMean Sqrt Div", [SQUARE, np.array([1]), np.array([1])], SQUARE, SQUARE + ROWS),
        ("normalization-shape", "ReduceMean Sqrt Div", [SQUARE, np.array([1])], SQUARE[:1], SQUARE),
        ("", "ReduceMean Sqrt Div", [SQUARE, np.array([1])], IMAGE[0], SQUARE),
        ("prelu-shape", "Relu Neg Mul Sub", [IMAGE], IMAGE[:, :1], IMAGE),
        ("", "Relu Neg Mul Sub", [IMAGE], SQUARE, IMAGE),
        ("concat-empty", "Mul Concat", [SQUARE[:, :0]], SQUARE[:1, :0], SQUARE[:, :0]),
        ("", "Mul Concat", [SQUARE], SQUARE[:1], SQUARE),
        ("", "Conv Add", [IMAGE, IMAGE], IMAGE[:0], IMAGE),
        ("max-pool-nan", "Pad MaxPool", [single(NAN, 1)], single(1, 1), single(NAN, 1)),
        ("", "Pad MaxPool", [single(NAN, 1)], single(NAN, 2), single(NAN, 1)),
    ],
)
def test_faults_of_graphs(name: str, kinds: str, operands: list[Any], actual: Any, wanted: Any) -> None:
    differs = None if actual.shape != wanted.shape else ~np.isclose(actual, wanted, equal_nan=True)
    wrong = Wrong(Contents(frozenset(kinds.split()), operands, True, None), actual, wanted, differs)
    assert next((each for each, rule in RULES.items() if rule(wrong)), "") == name


def test_dimensions_may_be_lost_where_the_rank_is_unknown() -> None:
    arguments = "Add", [single(1), np.ones((1, 1), np.float32)], single(2), np.full((1, 1), 2, np.float32)
    assert explained(*arguments, rank_is_known=False) == "gelu-rank"


def test_every_rule_is_that_of_a_documented_fault() -> None:
    assert set(RULES) <= set(FAULTS)


@pytest.mark.parametrize(("opset", "axis"), [(13, 1), (12, 1)])
def test_what_softmax_loses(opset: int, axis: int) -> None:
    """ONNX Runtime passes over some NaN: of one axis, or before version 13 of all from it on."""
    x = single(NAN, 1, 2, 3, 4, 5, 6, 7).reshape(1, 2, 4)
    node = helper.make_node("Softmax", ["x"], ["y"], axis=axis)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", 1, x.shape)], [helper.make_empty_tensor_value_info("y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    result = np.full(x.shape, 0.5, np.float32)
    assert runtime_is_wrong(model, [x], [result])
    result[:, :, 0] = NAN
    assert runtime_is_wrong(model, [x], [result]) == (opset < 13)
    result[:] = NAN
    assert not runtime_is_wrong(model, [x], [result])
