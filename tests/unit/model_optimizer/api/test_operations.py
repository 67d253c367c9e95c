"""Model Optimizer's operations, lowered and run on OpenVINO, against numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from moir.errors import ConversionError
from moir.model_optimizer.api import operations
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.operation import Op, create_op_with_const_inputs
from moir.model_optimizer.values.shapes import int64_array
from tests.unit.model_optimizer.operation_graphs import kinds, lowered, run

RANDOM = np.random.default_rng(4)
X = RANDOM.normal(size=(2, 3, 4, 5)).astype(np.float32)
Y = RANDOM.normal(size=(2, 3, 4, 5)).astype(np.float32)
M = RANDOM.normal(size=(2, 6)).astype(np.float32)


def make(name: str, /, *constants: Any, **attrs: Any) -> Callable[[Graph, list[GraphNode]], GraphNode]:
    """Builds a node of an operation from all inputs and, at the ports after them, constants."""

    def build(graph: Graph, inputs: list[GraphNode]) -> GraphNode:
        extra = [operations.Const(graph, {"value": np.asarray(value)}).create_node() for value in constants]
        return getattr(operations, name)(graph, {"name": name, **attrs}).create_node([*inputs, *extra])

    return build


def normalized(x: np.ndarray, axes: tuple[int, ...], eps: float = 1e-9) -> np.ndarray:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


POSITIVE = np.abs(M) + 1
W = RANDOM.normal(size=(4, 6)).astype(np.float32)
B = RANDOM.normal(size=(4,)).astype(np.float32)
C = RANDOM.normal(size=(3,)).astype(np.float32)

CASES: dict[str, tuple[Any, list[np.ndarray], np.ndarray]] = {
    "interpolate without axes": (
        make(
            "Interpolate",
            int64_array([2, 3, 8, 10]),
            np.array([1, 1, 2, 2], np.float32),
            mode="nearest",
            shape_calculation_mode="sizes",
            coordinate_transformation_mode="asymmetric",
            nearest_mode="floor",
            version="opset4",
        ),
        [X],
        X.repeat(2, 2).repeat(2, 3),
    ),
    "power": (make("Power", scale=2.0, shift=1.0, power=2.0), [M], (2 * M + 1) ** 2),
    "negation by power": (make("Power", scale=-1), [M], -M),
    "power of two inputs": (make("Pow", np.float32(2.5)), [POSITIVE], POSITIVE**2.5),
    "attributed power": (make("AttributedPower", power=-1), [POSITIVE], 1 / POSITIVE),
    "sum": (make("Eltwise", operation="sum"), [X, Y, X], X + Y + X),
    "sum with coefficients": (make("Eltwise", operation="sum", coeff=np.array([1.0, -2.0])), [X, Y], X - 2 * Y),
    "product": (make("Eltwise", operation="mul"), [X, Y], X * Y),
    "maximum": (make("Eltwise", operation="max"), [X, Y], np.maximum(X, Y)),
    "many minima": (make("EltwiseNMin"), [X, Y, X], np.minimum(X, Y)),
    "add": (make("Add"), [X, Y], X + Y),
    "subtract": (make("Sub"), [X, Y], X - Y),
    "divide": (make("Div", np.float32(2)), [X], X / 2),
    "mish": (make("Mish"), [X], X * np.tanh(np.log1p(np.exp(X)))),
    "soft plus": (make("SoftPlus"), [X], np.log1p(np.exp(X))),
    "softmax": (make("Softmax", axis=1), [M], np.exp(M) / np.exp(M).sum(1, keepdims=True)),
    "softmax from the end": (make("Softmax", axis=-1), [M], np.exp(M) / np.exp(M).sum(1, keepdims=True)),
    "sigmoid": (make("Sigmoid"), [M], 1 / (1 + np.exp(-M))),
    "relu": (make("ReLU"), [M], np.maximum(M, 0)),
    "relu6": (make("ReLU6"), [M * 5], np.clip(M * 5, 0, 6)),
    "leaky relu": (make("LeakyReLU", negative_slope=0.1), [M], np.where(M < 0, 0.1 * M, M)),
    "attributed clamp": (make("AttributedClamp", min=-0.5, max=0.5), [M], np.clip(M, -0.5, 0.5)),
    "clamp by inputs": (make("Clamp", np.float32(-0.5), np.float32(0.5)), [M], np.clip(M, -0.5, 0.5)),
    "pack": (make("PackOp", axis=1), [X, Y], np.stack([X, Y], 1)),
    "concat": (make("Concat", axis=-1), [X, Y], np.concatenate([X, Y], -1)),
    "squeeze by attribute": (make("Squeeze", squeeze_dims=[1]), [M[:, None]], M),
    "unsqueeze": (make("Unsqueeze", int64_array([1])), [M], M[:, None]),
    "expand dimensions": (make("ExpandDims", expand_axis=np.array(0)), [M], M[None]),
    "reshape": (make("Reshape", int64_array([0, -1])), [X], X.reshape(2, -1)),
    "reshape by attribute": (make("Reshape", dim=int64_array([3, -1])), [M], M.reshape(3, -1)),
    "flatten": (make("Flatten", axis=1), [X], X.reshape(2, -1)),
    "flatten in the middle": (make("Flatten", axis=1, end_axis=2), [X], X.reshape(2, 12, 5)),
    "flatten of ONNX": (make("FlattenONNX", axis=2), [X], X.reshape(6, 20)),
    "transpose by attribute": (make("Transpose", order=[0, 2, 3, 1]), [X], X.transpose(0, 2, 3, 1)),
    "transpose": (make("Transpose", int64_array([1, 0])), [M], M.T),
    "size": (make("Size"), [M], np.int64(12)),
    "rank": (make("Rank"), [X], np.int64(4)),
    "shape": (make("Shape"), [M], np.int64([2, 6])),
    "tile": (make("AttributedTile", axis=1, tiles=2), [M], np.tile(M, (1, 2))),
    "crop": (make("Crop", axis=[1], offset=[1], dim=[2]), [M], M[:, 1:3]),
    "crop from both ends": (make("Crop", axis=[1], crop_begin=[1], crop_end=[2]), [M], M[:, 1:-2]),
    "slice": (make("AttributedSlice", starts=[1], ends=[5], axes=[1], steps=[2]), [M], M[:, 1:5:2]),
    "slice by inputs": (make("Slice", int64_array([1]), int64_array([4]), int64_array([1])), [M], M[:, 1:4]),
    "slice of TensorFlow": (make("TFSlice", int64_array([0, 2]), int64_array([-1, 3])), [M], M[:, 2:5]),
    "gather": (make("Gather", np.array([2, 0]), np.array(1)), [M], M[:, [2, 0]]),
    "attributed gather": (make("AttributedGather", np.array([2, 0]), axis=1), [M], M[:, [2, 0]]),
    "pad": (make("AttributedPad", pads=[[0, 0], [1, 2]], fill_value=3.0), [M], np.pad(M, ((0, 0), (1, 2)), constant_values=3)),
    "roll": (make("AttributedRoll", shift=[1], axes=[1]), [M], np.roll(M, 1, 1)),
    "reduce by attribute": (make("ReduceMean", axis=[2, 3], keep_dims=True), [X], X.mean((2, 3), keepdims=True)),
    "reduce": (make("ReduceSum", int64_array([1])), [M], M.sum(1)),
    "arg max": (make("ArgMaxOp", axis=1, top_k=1), [M], M.argmax(1)[:, None]),
    "cast": (make("Cast", dst_type=np.int32), [M * 3], (M * 3).astype(np.int32)),
    "fully connected": (make("FullyConnected", W, B), [M], M @ W.T + B),
    "fully connected, flattened": (make("FullyConnected", W), [M.reshape(2, 3, 2)], M @ W.T),
    "gemm": (make("Gemm", W, B, alpha=0.5, beta=2.0, transpose_b=True), [M], 0.5 * M @ W.T + 2 * B),
    "matrix product": (make("MatMul", W, transpose_b=True), [M], M @ W.T),
    "MVN over space": (make("MVN", eps=1e-5), [X], normalized(X, (2, 3), 1e-5)),
    "MVN across channels": (make("MVN", eps=1e-5, across_channels=1), [X], normalized(X, (1, 2, 3), 1e-5)),
    "MVN over axes": (make("MVN", int64_array([1]), eps=1e-5), [X], normalized(X, (1,), 1e-5)),
    "scale and shift": (make("ScaleShiftOp", C, C), [X], X * C[:, None, None] + C[:, None, None]),
    "bias": (make("BiasAdd", C), [X], X + C[:, None, None]),
    "batch norm": (
        make("BatchNormInference", C, C, C, np.abs(C) + 1, eps=1e-3),
        [X],
        (X - C[:, None, None]) / np.sqrt(np.abs(C) + 1 + 1e-3)[:, None, None] * C[:, None, None] + C[:, None, None],
    ),
    "max pooling": (
        make("Pooling", window=[1, 1, 2, 2], stride=[1, 1, 2, 1], pad=np.zeros((4, 2)), pool_method="max"),
        [X],
        np.maximum.reduce([X[:, :, dy::2, dx : 4 + dx] for dy in range(2) for dx in range(2)]),
    ),
    "average pooling": (
        make("Pooling", window=[1, 1, 2, 2], stride=[1, 1, 2, 1], pool_method="avg", exclude_pad="true"),
        [X],
        sum(X[:, :, dy::2, dx : 4 + dx] for dy in range(2) for dx in range(2)) / 4,
    ),
    "select": (make("Select", M, np.float32(0)), [M > 0], np.where(M > 0, M, 0)),
}


@pytest.mark.parametrize("stage", ["front", "middle"])
@pytest.mark.parametrize("name", CASES)
def test_operations_compute_what_they_should(name: str, stage: str) -> None:
    build, inputs, expected = CASES[name]
    (actual,) = run(build, *inputs, stage=stage)
    assert actual.shape == np.shape(expected)
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "name",
    [
        "power",
        "sum",
        "pack",
        "MVN over space",
        "fully connected",
        "max pooling",
        "scale and shift",
        "flatten of ONNX",
        "reduce by attribute",
    ],
)
def test_operations_take_data_of_unknown_dimensions(name: str) -> None:
    build, inputs, expected = CASES[name]
    (actual,) = run(build, *inputs, shapes=[(-1,) * array.ndim for array in inputs])
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)


LAST = np.ascontiguousarray(X.transpose(0, 2, 3, 1))

CHANNEL_LAST = {
    "MVN": (make("MVN", eps=1e-5), normalized(LAST, (1, 2), 1e-5)),
    "bias": (make("BiasAdd", C), LAST + C),
    "batch norm": (make("BatchNormInference", C, C, C, np.abs(C) + 1, eps=1e-3), (LAST - C) / np.sqrt(np.abs(C) + 1 + 1e-3) * C + C),
    "pooling": (
        make("Pooling", window=[1, 2, 2, 1], stride=[1, 2, 1, 1], pool_method="max"),
        np.maximum.reduce([LAST[:, dy::2, dx : 4 + dx] for dy in range(2) for dx in range(2)]),
    ),
    "convolution": (
        make("Convolution", np.ones((1, 1, 3, 2), np.float32), stride=[1, 1, 1, 1]),
        np.repeat(LAST.sum(-1, keepdims=True), 2, -1),
    ),
}


@pytest.mark.parametrize("name", CHANNEL_LAST)
def test_data_of_tensorflow_is_channel_last(name: str) -> None:
    build, expected = CHANNEL_LAST[name]
    (actual,) = run(build, LAST, framework="tf")
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)


def test_convolution_with_groups_and_bias() -> None:
    weights = RANDOM.normal(size=(6, 1, 1, 1)).astype(np.float32)
    bias = np.arange(6, dtype=np.float32)
    (actual,) = run(make("Convolution", weights, bias, group=3, strides=[1, 1], pads_begin=[0, 0], pads_end=[0, 0]), X)
    expected = np.repeat(X, 2, 1) * weights[:, 0] + bias[:, None, None]
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)


def test_split_has_as_many_outputs_as_parts() -> None:
    def build(graph: Graph, inputs: list[GraphNode]) -> list[tuple[GraphNode, int]]:
        node = operations.AttributedSplit(graph, {"axis": 1, "num_splits": 3, "out_ports_count": 3}).create_node(inputs)
        return [(node, 0), (node, 2)]

    first, last = run(build, M)
    np.testing.assert_array_equal(first, M[:, :2])
    np.testing.assert_array_equal(last, M[:, 4:])


def test_unpack_gives_each_entry() -> None:
    def build(graph: Graph, inputs: list[GraphNode]) -> list[tuple[GraphNode, int]]:
        node = operations.Unpack(graph, {"axis": 0, "out_ports_count": 2}).create_node(inputs)
        return [(node, 1), (node, 0)]

    for actual, expected in zip(run(build, M), (M[1], M[0]), strict=True):
        np.testing.assert_array_equal(actual, expected)


def test_top_k_has_both_outputs() -> None:
    def build(graph: Graph, inputs: list[GraphNode]) -> list[tuple[GraphNode, int]]:
        node = create_op_with_const_inputs(graph, operations.TopK, {1: np.int64(2)}, {"axis": 1}, inputs[0])
        return [(node, 0), (node, 1)]

    values, indices = run(build, M)
    order = np.argsort(-M, 1)[:, :2]
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_array_equal(values, np.take_along_axis(M, order, 1))


def test_region_yolo_has_channels_first() -> None:
    data = RANDOM.normal(size=(1, 4, 4, 75)).astype(np.float32)
    build = make("RegionYoloOp", classes=20, coords=4, num=3, do_softmax=0, mask=[0, 1, 2], anchors=[1, 2, 3, 4, 5, 6])
    module = lowered(build, [data], framework="tf")
    assert [kind for kind in kinds(module) if kind != "opset1.Constant"] == [
        "opset1.Parameter",
        "opset1.Transpose",
        "opset1.RegionYolo",
        "opset1.Result",
    ]
    (actual,) = run(build, data, framework="tf")
    assert actual.shape == (1, 75, 4, 4)
    np.testing.assert_allclose(actual[:, 0], 1 / (1 + np.exp(-data[..., 0])), rtol=1e-4)


def test_a_list_of_one_node_is_not_that_of_the_next() -> None:
    axes: list[list[str]] = []

    def build(graph: Graph, inputs: list[GraphNode]) -> list[GraphNode]:
        nodes = [
            operations.RegionYoloOp(graph, {"classes": 20, "coords": 4, "num": 3, "do_softmax": 1, "end_axis": -1}).create_node(inputs)
            for _ in range(2)
        ]
        nodes[0].dim_attrs.remove("axis")
        axes.extend(node.dim_attrs for node in nodes)
        return nodes

    first, second = run(build, RANDOM.normal(size=(1, 125, 3, 3)).astype(np.float32))
    assert axes == [[], ["axis"]]
    assert first.shape == second.shape == (1, 125 * 9)


@pytest.mark.parametrize(("keeps", "axis"), [(True, 2), (False, 1)])
def test_the_axis_of_a_region_is_one_of_its_data_unless_taken_out_of_dim_attrs(keeps: bool, axis: int) -> None:
    def build(graph: Graph, inputs: list[GraphNode]) -> GraphNode:
        node = operations.RegionYoloOp(graph, {"classes": 1, "coords": 4, "num": 1, "do_softmax": 1, "end_axis": -1}).create_node(inputs)
        if not keeps:
            node.dim_attrs.remove("axis")
        return node

    module = lowered(build, [np.zeros((1, 4, 5, 6), np.float32)], framework="tf")
    (region,) = [op for op in module.walk() if op.name == "opset1.RegionYolo"]
    assert region.integer("axis") == axis


def test_a_region_without_mask_has_all_anchors() -> None:
    build = make("RegionYoloOp", classes=1, coords=4, num=2, do_softmax=0, end_axis=-1)
    (actual,) = run(build, np.zeros((1, 12, 2, 2), np.float32))
    assert actual.shape == (1, 12, 2, 2)


def test_reorg_yolo() -> None:
    module = lowered(make("ReorgYoloOp", stride=2), [X[:, :, :, :4]])
    assert "opset2.ReorgYolo" in kinds(module)


def test_every_kind_of_the_table_has_a_handler() -> None:
    from moir.model_optimizer.lowering.table import mo

    assert len(mo.kinds()) > 100
    assert [kind for kind in mo.kinds() if mo.handler(kind, 1) is None] == []


@pytest.mark.parametrize(
    ("name", "compute"),
    [("Add", np.add), ("Mul", np.multiply), ("Sub", np.subtract), ("Div", np.divide), ("Maximum", np.maximum), ("Less", np.less)],
)
@pytest.mark.parametrize("axis", [0, 1, -2])
def test_an_axis_aligns_the_second_operand(name: str, compute: Any, axis: int) -> None:
    data = np.arange(1, 25, dtype=np.float32).reshape(1, 3, 4, 2)
    second = np.arange(1, 1 + data.shape[axis], dtype=np.float32)
    (actual,) = run(make(name, axis=axis), data, second)
    shape = [1] * 4
    shape[axis] = -1
    np.testing.assert_allclose(actual, compute(data, second.reshape(shape)), rtol=1e-6)


def test_every_operation_can_be_found_by_its_op() -> None:
    operations.register_all()
    for name, description in operations.descriptions().items():
        if description.is_base:
            continue
        actual = Op.get_op_class_by_name(description.op or name)
        assert issubclass(actual, Op)
        assert actual.op == (description.op or name)


def test_every_operation_with_a_type_is_one_of_an_operation_set() -> None:
    from moir.model_optimizer.lowering.versions import standard_operation

    for name, description in operations.descriptions().items():
        if description.type is not None and name != "MVNCaffe":
            assert standard_operation(description.type, description.version) is not None, name


def test_a_name_that_is_no_operation() -> None:
    with pytest.raises(AttributeError, match="NoSuchOperation"):
        operations.NoSuchOperation  # noqa: B018


def test_a_class_of_the_user_keeps_its_op() -> None:
    from moir.model_optimizer.graph.operation import registration

    with registration():

        class Own(Op):
            op = "Mish"

        operations.register_all()
        assert Op.get_op_class_by_name("Mish") is Own
    operations.register_all()
    assert Op.get_op_class_by_name("Mish") is operations.Mish


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (make("Eltwise", operation="sqrt"), "operation 'sqrt' is not known"),
        (make("Flatten", axis=2, end_axis=1), "end_axis 1 is before axis 2"),
        (make("CaffeSlice", axis=1, slice_point=[9, 3]), "negative|parts|size|length"),
        (make("Pooling", pool_method="median", window=[1, 1, 2, 2]), "neither max nor avg"),
        (make("Pooling"), "neither an attribute window nor an attribute kernel"),
        (make("Unsqueeze"), "which dimensions are added"),
        (make("Power", scale="many"), "'many', not a number"),
        (make("FullyConnected"), "input port 1 is not connected"),
    ],
)
def test_errors_name_the_node(build: Any, message: str) -> None:
    with pytest.raises(ConversionError, match=message) as error:
        lowered(build, [X])
    assert error.value.node


def test_a_deconvolution_of_channel_last_data_is_refused() -> None:
    with pytest.raises(ConversionError, match="channel-last data is not supported"):
        lowered(make("Deconvolution", np.ones((3, 3, 1, 1), np.float32)), [LAST], framework="tf")


def test_a_node_with_data_is_inferred_at_once() -> None:
    def build(graph: Graph, inputs: list[GraphNode]) -> GraphNode:
        constant = operations.Const(graph, {"value": int64_array([1, 2, 3])}).create_node()
        scaled = operations.Power(graph, {"scale": 2}).create_node_with_data([constant.out_node(0)])
        assert scaled.value.tolist() == [2, 4, 6]
        pooled = operations.PackOp(graph, {"axis": 1}).create_node_with_data([inputs[0].out_node(0)] * 2)
        assert pooled.shape.tolist() == [2, 2, 6]
        return pooled.in_node(0)

    module = lowered(build, [M], stage="middle")
    assert str(next(op for op in module.walk() if op.name == "opset1.Concat").results[0].type) == "tensor<2x2x6xf32>"


def test_shapes_are_known_after_new_nodes() -> None:
    """In the middle phase a new node is lowered as soon as the transformation ends; old nodes after it are inferred again."""

    def build(graph: Graph, inputs: list[GraphNode]) -> GraphNode:
        flat = operations.Flatten(graph, {"axis": 0}).create_node(inputs)
        return operations.Tanh(graph, {}).create_node([flat])

    module = lowered(build, [M], stage="back")
    assert [str(op.results[0].type) for op in module.walk() if op.name in ("opset1.Reshape", "opset1.Tanh")] == ["tensor<12xf32>"] * 2


def test_interpolation_of_the_first_operation_set() -> None:
    build = make("Interpolate", int64_array([8, 10]), version="opset1", axes=[2, 3], mode="nearest", align_corners=0)
    (actual,) = run(build, X)
    np.testing.assert_array_equal(actual, X.repeat(2, 2).repeat(2, 3))


@pytest.mark.parametrize(("framework", "data"), [("onnx", X), ("tf", LAST)])
def test_upsampling_by_factors(framework: str, data: np.ndarray) -> None:
    (actual,) = run(make("UpsampleOp", height_scale=2, width_scale=3.0), data, framework=framework)
    axes = (2, 3) if framework == "onnx" else (1, 2)
    np.testing.assert_array_equal(actual, data.repeat(2, axes[0]).repeat(3, axes[1]))


def test_local_response_normalization() -> None:
    (actual,) = run(make("AttributedLRN", alpha=0.5, beta=0.75, bias=1, local_size=3), X)
    squares = np.pad(X**2, ((0, 0), (1, 1), (0, 0), (0, 0)))
    sums = sum(squares[:, offset : offset + 3] for offset in range(3))
    np.testing.assert_allclose(actual, X / (1 + 0.5 / 3 * sums) ** 0.75, rtol=1e-4)


def test_a_transposed_convolution() -> None:
    data, weights = X[:, :, :2, :2], np.ones((3, 1, 2, 2), np.float32)
    (actual,) = run(make("Deconvolution", weights, stride=[1, 1, 2, 2], pad=np.zeros((4, 2))), np.ascontiguousarray(data))
    np.testing.assert_allclose(actual, data.sum(1, keepdims=True).repeat(2, 2).repeat(2, 3), rtol=1e-5)
