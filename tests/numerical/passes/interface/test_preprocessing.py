"""Preprocessing and layouts of small models, against ONNX Runtime after the same preprocessing by numpy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import openvino
import pytest
from onnx import TensorProto, helper, numpy_helper

import moir
from tests.numerical.runtime import Array, core

Shape = list[int | str]
RANDOM = np.random.default_rng(12)


def saved(
    folder: Path,
    nodes: list[onnx.NodeProto],
    inputs: dict[str, tuple[int, Shape]],
    outputs: list[str],
    weights: dict[str, Array] | None = None,
) -> Path:
    """A model file: the types and shapes of its inputs by name, its outputs, its weights."""
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info(name, type_, shape) for name, (type_, shape) in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        initializer=[numpy_helper.from_array(value, name) for name, value in (weights or {}).items()],
    )
    path = folder / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def converted(path: Path, **options: Any) -> tuple[openvino.Model, openvino.CompiledModel]:
    """The model converted with options, and compiled."""
    module = moir.convert_model(path, **options)
    module.verify()
    model = moir.to_openvino(module)
    return model, core().compile_model(model, "CPU")


def compare(path: Path, compiled: openvino.CompiledModel, prepared: dict[str, Array], given: Mapping[Any, Array]) -> None:
    """Compare the outputs for given data with those of the original model for prepared data."""
    expected = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, prepared)
    results = compiled(given)
    for index, wanted in enumerate(expected):
        np.testing.assert_allclose(results[index], wanted, rtol=1e-3, atol=1e-3 * np.max(np.abs(wanted)))


def numbers(*shape: int, scale: float = 1.0, shift: float = 0.0) -> Array:
    """Random numbers around `shift`."""
    return (RANDOM.standard_normal(shape) * scale + shift).astype(np.float32)


CONVOLUTIONS: dict[str, tuple[str, dict[str, Any], tuple[int, ...], dict[str, int]]] = {
    "unpadded": ("Conv", {}, (6, 4, 3, 3), {"Subtract": 0, "Divide": 0, "Gather": 0}),
    "strided": ("Conv", {"strides": [2, 1], "dilations": [1, 2]}, (6, 4, 3, 2), {"Subtract": 0, "Divide": 0}),
    "padded": ("Conv", {"pads": [1, 1, 1, 1]}, (6, 4, 3, 3), {"Subtract": 1, "Divide": 0}),
    "padded at the end": ("Conv", {"pads": [0, 0, 0, 1]}, (6, 4, 3, 3), {"Subtract": 1, "Divide": 0}),
    "same": ("Conv", {"auto_pad": "SAME_UPPER"}, (6, 4, 3, 3), {"Subtract": 1, "Divide": 0}),
    "groups": ("Conv", {"group": 2}, (6, 2, 3, 3), {"Subtract": 0, "Divide": 0}),
    "each channel": ("Conv", {"group": 4}, (8, 1, 3, 3), {"Subtract": 0, "Divide": 0}),
    "transposed": ("ConvTranspose", {}, (4, 6, 3, 3), {"Subtract": 1, "Divide": 0}),
    "transposed groups": ("ConvTranspose", {"group": 2}, (4, 3, 3, 3), {"Subtract": 1, "Divide": 0}),
}
"""Convolutions of four channels: kind of node, attributes, shape of the filters, what is left of preprocessing."""


@pytest.mark.parametrize("shape", [[2, 4, 9, 8], ["n", 4, "h", "w"], ["n", "c", "h", "w"]], ids=["static", "dynamic", "channels"])
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_four_channels_in_front_of_convolutions(name: str, shape: Shape, tmp_path: Path) -> None:
    kind, attributes, filters, left = CONVOLUTIONS[name]
    node = helper.make_node(kind, ["x", "w", "b"], ["y"], **attributes)
    outputs = 6 if kind == "Conv" and name != "each channel" else 8 if kind == "Conv" else 6
    path = saved(tmp_path, [node], {"x": (1, shape)}, ["y"], {"w": numbers(*filters), "b": numbers(outputs)})
    mean, scale = np.array([10.0, 20.0, 30.5, 40.0]), np.array([2.0, 3.0, 0.5, 4.0])
    model, compiled = converted(path, mean_values=mean, scale_values={"x": scale}, layout="nchw->nhwc")
    data = numbers(2, 9, 8, 4, scale=3, shift=20)
    prepared = ((data - mean) / scale).astype(np.float32).transpose(0, 3, 1, 2)
    compare(path, compiled, {"x": np.ascontiguousarray(prepared)}, {"x": data})
    actual = Counter(op.get_type_name() for op in model.get_ops())
    assert {kind: actual[kind] for kind in left} == left
    assert model.input().partial_shape.rank.get_length() == 4
    assert model.input().partial_shape[3] == openvino.Dimension(4)


@pytest.mark.parametrize("group", [1, 3])
def test_reversed_channels_of_groups(group: int, tmp_path: Path) -> None:
    node = helper.make_node("Conv", ["x", "w"], ["y"], group=group, pads=[1, 1, 1, 1])
    path = saved(tmp_path, [node], {"x": (1, [1, 3, 5, 6])}, ["y"], {"w": numbers(6, 3 // group, 3, 3)})
    model, compiled = converted(path, mean_values=[1, 2, 3], reverse_input_channels=True)
    data = numbers(1, 3, 5, 6)
    prepared = data[:, ::-1] - np.array([1, 2, 3], np.float32).reshape(3, 1, 1)
    compare(path, compiled, {"x": np.ascontiguousarray(prepared)}, {"x": data})
    assert ("Gather" in [op.get_type_name() for op in model.get_ops()]) == (group == 3)


def test_two_convolutions_of_one_input(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Conv", ["x", "v"], ["a"]),
        helper.make_node("Conv", ["x", "w"], ["b"], pads=[1, 1, 1, 1]),
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Cast", ["s"], ["c"], to=1),
    ]
    weights = {"v": numbers(2, 3, 1, 1), "w": numbers(2, 3, 3, 3)}
    path = saved(tmp_path, nodes, {"x": (1, ["n", 3, 5, 6])}, ["a", "b", "c"], weights)
    _, compiled = converted(path, mean_values=[1, 2, 3], scale=0.5, reverse_input_channels=True)
    data = numbers(2, 3, 5, 6)
    prepared = (data[:, ::-1] - np.array([1, 2, 3], np.float32).reshape(3, 1, 1)) / np.float32(0.5)
    compare(path, compiled, {"x": np.ascontiguousarray(prepared)}, {"x": data})


def test_several_inputs_by_position_in_the_given_order(tmp_path: Path) -> None:
    """Model Optimizer sorted such lists by their first numbers, and so gave them to the wrong inputs."""
    names = ["left", "middle", "right"]
    nodes = [helper.make_node("Relu", [name], [f"{name}_out"]) for name in names]
    path = saved(tmp_path, nodes, {name: (1, [1, 3, 4, 4]) for name in names}, [f"{name}_out" for name in names])
    _, compiled = converted(path, mean_values=[(255, 1, 2), (1, 2, 3), ()], scale_values="(9,8,7),(),(3)")
    data = {name: numbers(1, 3, 4, 4, scale=100, shift=100) for name in names}
    means = {"left": (255, 1, 2), "middle": (1, 2, 3), "right": (0, 0, 0)}
    scales = {"left": (9, 8, 7), "middle": (1, 1, 1), "right": (3, 3, 3)}
    along = {name: (np.reshape(means[name], (3, 1, 1)), np.reshape(scales[name], (3, 1, 1))) for name in names}
    prepared = {name: ((data[name] - along[name][0]) / along[name][1]).astype(np.float32) for name in names}
    compare(path, compiled, prepared, data)


RANKS: dict[str, tuple[list[int], str, str]] = {
    "features": ([5, 4], "nc", "cn"),
    "channels first": ([3, 6, 5], "chw", "hwc"),
    "channels last": ([6, 5, 3], "hwc", "whc"),
    "time": ([2, 7, 4], "[n,t,c]", "[c,n,t]"),
    "volume": ([1, 2, 3, 4, 5], "ncdhw", "ndhwc"),
    "volume last": ([1, 3, 4, 5, 2], "n...c", "nc..."),
}


@pytest.mark.parametrize("name", RANKS)
@pytest.mark.parametrize("dynamic", [False, True])
def test_ranks_and_layouts(name: str, dynamic: bool, tmp_path: Path) -> None:
    shape, source, target = RANKS[name]
    path = saved(
        tmp_path, [helper.make_node("Sinh", ["x"], ["y"])], {"x": (1, [f"d{i}" for i in range(len(shape))] if dynamic else shape)}, ["y"]
    )
    letters, others = ([letter for letter in each if letter.isalpha()] for each in (source, target))
    if "..." in source:
        letters, others = ["n", "1", "2", "3", "c"], ["n", "c", "1", "2", "3"]
    count = shape[letters.index("c")]
    mean, scale = RANDOM.standard_normal(count), RANDOM.random(count) + 1
    _, compiled = converted(path, mean_values={"x": mean}, scale_values={"x": scale}, source_layout=source, target_layout={"x": target})
    prepared = numbers(*shape)
    along = [-1 if letter == "c" else 1 for letter in letters]
    given = (prepared * scale.reshape(along) + mean.reshape(along)).astype(np.float32)
    given = np.ascontiguousarray(given.transpose([letters.index(letter) for letter in others]))
    expected = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, {"x": prepared})[0]
    np.testing.assert_allclose(compiled(given)[0], expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("shape", [[1, 6, 5, 3], ["n", "h", "w", "c"]], ids=["static", "dynamic"])
def test_bytes_are_preprocessed_after_the_conversion(shape: Shape, tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Cast", ["image"], ["data"], to=1),
        helper.make_node("Transpose", ["data"], ["planes"], perm=[0, 3, 1, 2]),
        helper.make_node("Conv", ["planes", "w"], ["y"]),
    ]
    weights = {"w": numbers(4, 3, 3, 3)}
    path = saved(tmp_path, nodes, {"image": (2, shape)}, ["y"], weights)
    mean, scale = np.float32([100, 120, 140]), np.float32([50, 60, 70])
    options = {"mean_values": mean, "scale_values": scale, "reverse_input_channels": True, "layout": {"image": ("nhwc", "nchw")}}
    model, compiled = converted(path, **options)
    assert model.input().element_type == openvino.Type.u8
    data = RANDOM.integers(0, 256, (1, 6, 5, 3)).astype(np.uint8)
    prepared = ((data[..., ::-1].astype(np.float32) - mean) / scale).transpose(0, 3, 1, 2)
    filters = onnx.helper.make_node("Conv", ["planes", "w"], ["y"])
    (tmp_path / "rest").mkdir()
    rest = saved(tmp_path / "rest", [filters], {"planes": (1, [1, 3, 6, 5])}, ["y"], weights)
    compare(rest, compiled, {"planes": np.ascontiguousarray(prepared)}, {"image": np.ascontiguousarray(data.transpose(0, 3, 1, 2))})


def test_however_many_channels_are_reversed(tmp_path: Path) -> None:
    path = saved(tmp_path, [helper.make_node("Relu", ["x"], ["y"])], {"x": (1, ["n", "h", "w", "c"])}, ["y"])
    _, compiled = converted(path, reverse_input_channels=True, layout="nhwc")
    for channels in (1, 3, 4):
        data = numbers(2, 3, 4, channels)
        compare(path, compiled, {"x": np.ascontiguousarray(data[..., ::-1])}, {"x": data})


@pytest.mark.parametrize("target", ["[n,c,h*w]", "[n*h*w,c]", "[c,w*h,n]", "[h,n*c,w]"])
@pytest.mark.parametrize("dynamic", [(), (0,), (1,), (0, 2)])
def test_fused_dimensions(target: str, dynamic: tuple[int, ...], tmp_path: Path) -> None:
    sizes = {"n": 2, "h": 3, "w": 4, "c": 5}
    shape: Shape = [letter if index in dynamic else sizes[letter] for index, letter in enumerate("nhwc")]
    nodes = [helper.make_node("Sinh", ["x"], ["y"])]
    path = saved(tmp_path, nodes, {"x": (1, shape)}, ["y"])
    groups = [each.split("*") for each in target.strip("[]").split(",")]
    order = ["nhwc".index(letter) for group in groups for letter in group]
    fused = [int(np.prod([sizes[letter] for letter in group])) for group in groups]
    data = numbers(2, 3, 4, 5)
    expected = np.sinh(data)
    unknown = {letter for index, letter in enumerate("nhwc") if index in dynamic}
    if any(len(unknown.intersection(group)) > 1 for group in groups):
        with pytest.raises(moir.errors.UsageError, match="cannot be split"):
            moir.convert_model(path, layout=f"x(nhwc->{target})")
    else:
        _, compiled = converted(path, layout=f"x(nhwc->{target})")
        np.testing.assert_allclose(compiled(data.transpose(order).reshape(fused).copy())[0], expected, rtol=1e-4, atol=1e-5)
    _, compiled = converted(path, layout=f"y(nhwc->{target})")
    np.testing.assert_allclose(compiled(data)[0], expected.transpose(order).reshape(fused), rtol=1e-4, atol=1e-5)


def test_two_outputs_of_one_tensor(tmp_path: Path) -> None:
    nodes = [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Identity", ["y"], ["z"])]
    path = saved(tmp_path, nodes, {"x": (1, [1, 2, 3, 4])}, ["y", "z"])
    model, compiled = converted(path, layout="z(nchw->nhwc)")
    data = numbers(1, 2, 3, 4)
    results = compiled(data)
    np.testing.assert_array_equal(results[0], np.maximum(data, 0))
    np.testing.assert_array_equal(results[1], np.maximum(data, 0).transpose(0, 2, 3, 1))
    assert "y" in model.output(0).names
    assert "z" in model.output(1).names


def test_inputs_that_are_left_when_others_are_frozen(tmp_path: Path) -> None:
    nodes = [helper.make_node("Add", ["left", "right"], ["y"])]
    path = saved(tmp_path, nodes, {name: (1, [1, 3, 2, 2]) for name in ("left", "right")}, ["y"])
    frozen = {"left": np.full((1, 3, 2, 2), 2, np.float32)}
    model, compiled = converted(path, input=f"left->[{','.join(['2'] * 12)}],right", mean_values=[[1, 2, 3]])
    assert len(model.inputs) == 1
    data = numbers(1, 3, 2, 2)
    prepared = data - np.array([1, 2, 3], np.float32).reshape(3, 1, 1)
    compare(path, compiled, {**frozen, "right": prepared}, {"right": data})


@pytest.mark.parametrize("place", ["tanh:0", "tanh_out", "0:conv"])
def test_inputs_where_the_model_is_cut(place: str, tmp_path: Path) -> None:
    weights = {"w": numbers(4, 3, 1, 1)}
    nodes = [helper.make_node("Tanh", ["x"], ["tanh_out"], name="tanh"), helper.make_node("Conv", ["tanh_out", "w"], ["y"], name="conv")]
    path = saved(tmp_path, nodes, {"x": (1, [1, 3, 5, 6])}, ["y"], weights)
    (tmp_path / "rest").mkdir()
    rest = saved(tmp_path / "rest", nodes[1:], {"tanh_out": (1, [1, 3, 5, 6])}, ["y"], weights)
    options = {"mean_values": {place: [1, 2, 3]}, "scale_values": f"{place}(4)", "layout": {place: "nchw->nhwc"}}
    _, compiled = converted(path, input=f"{place}[1,3,5,6]", **options)
    data = numbers(1, 5, 6, 3)
    prepared = ((data - np.float32([1, 2, 3])) / 4).transpose(0, 3, 1, 2)
    compare(rest, compiled, {"tanh_out": np.ascontiguousarray(prepared)}, {0: data})


def test_inputs_that_become_bytes(tmp_path: Path) -> None:
    weights = {"w": numbers(4, 3, 3, 3)}
    path = saved(tmp_path, [helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])], {"x": (1, ["n", 3, 5, 6])}, ["y"], weights)
    model, compiled = converted(path, input="x{u8}", mean_values=[1, 2, 3], scale=58, reverse_input_channels=True, layout="nchw->nhwc")
    assert model.input().element_type == openvino.Type.u8
    data = RANDOM.integers(0, 256, (2, 5, 6, 3)).astype(np.uint8)
    prepared = ((data[..., ::-1].astype(np.float32) - np.float32([1, 2, 3])) / 58).transpose(0, 3, 1, 2)
    compare(path, compiled, {"x": np.ascontiguousarray(prepared)}, {"x": data})
