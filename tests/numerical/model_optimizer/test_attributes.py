"""Attributes that an extension sets on the nodes of a model: they change what the node computes, or are errors."""

from __future__ import annotations

import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.caffe.networks import converted, input_layer, layer, results
from tests.numerical.caffe.networks import write as write_network
from tests.numerical.model_optimizer.conversion import Converted, convert, write
from tests.numerical.onnx.conversion import build, expected_results, node
from tests.numerical.runtime import compare
from tests.numerical.tensorflow import conversion as tensorflow_conversion

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1, 4, 6, 6)).astype(np.float32)
FOUR = RNG.uniform(0.5, 1, 4).astype(np.float32)
SQUARE = RNG.normal(size=(6, 6)).astype(np.float32)


def with_node(phase: str, lines: str, condition: str = "node.name == 'n'") -> dict[str, str]:
    """A transformation that runs `lines` with the node named `n`."""
    base = phase.capitalize()
    module = "front.common" if phase == "front" else phase
    text = f"""
import numpy as np
from mo.{module}.replacement import {base}ReplacementPattern
from mo.front.common.partial_infer.utils import int64_array
from mo.front.tf.graph_utils import create_op_with_const_inputs
from mo.ops.shape import Shape
from mo.ops.strided_slice import StridedSlice

class Setting({base}ReplacementPattern):
    enabled = True

    def find_and_replace_pattern(self, graph):
        for node in [node for node in graph.get_op_nodes() if {condition}]:
"""
    text += "".join(f"            {line}\n" for line in lines.strip().splitlines())
    return {f"{phase}/setting.py": text}


def made(kind: str, inputs: str = "x", **attributes):
    return node(kind, inputs.split(), ["y"], "n", **attributes)


BATCH_NORM = {"s": FOUR, "b": FOUR, "m": FOUR, "v": FOUR}
NORMALISED = made("BatchNormalization", "x s b m v", epsilon=0.5)
POOL = {"kernel_shape": [3, 3], "strides": [2, 2]}

# What is set; the model; the constants; the model that has the attribute. The node had a property, or another one.
ONNX = {
    "epsilon at its default": (
        "node['epsilon'] = 0.5",
        made("BatchNormalization", "x s b m v"),
        made("BatchNormalization", "x s b m v", epsilon=0.5),
    ),
    "eps": ("node.eps = 0.5", made("BatchNormalization", "x s b m v", epsilon=0.1), NORMALISED),
    "axis": ("node.axis = 2", made("Softmax", axis=1), made("Softmax", axis=2)),
    "alpha at its default": ("node['alpha'] = 0.25", made("Elu"), made("Elu", alpha=0.25)),
    "negative_slope": ("node.negative_slope = 0.25", made("LeakyRelu"), made("LeakyRelu", alpha=0.25)),
    "exclude_pad": (
        "assert node.exclude_pad\nnode.exclude_pad = False",
        made("AveragePool", **POOL, pads=[1, 1, 1, 1]),
        made("AveragePool", **POOL, pads=[1, 1, 1, 1], count_include_pad=1),
    ),
    "rounding_type": (
        "assert node.rounding_type == 'floor'\nnode.rounding_type = 'ceil'",
        made("MaxPool", **POOL),
        made("MaxPool", **POOL, ceil_mode=1),
    ),
    "pool_method": ("node.pool_method = 'avg'", made("MaxPool", **POOL), made("AveragePool", **POOL)),
    "pad": (
        "node.pad = int64_array([[0, 0], [0, 0], [1, 0], [0, 2]])",
        made("MaxPool", **POOL),
        made("MaxPool", **POOL, pads=[1, 0, 0, 2]),
    ),
    "keep_dims": ("node.keep_dims = False", made("ReduceMean", axes=[2]), made("ReduceMean", axes=[2], keepdims=0)),
    "axes": ("node.axis = 1", made("ReduceMean", axes=[2]), made("ReduceMean", axes=[1])),
    "operation": ("node.operation = 'min'", made("Max", "x k"), made("Min", "x k")),
    "power": ("node.power = 2.0", made("Sqrt"), made("Mul", "x x")),
    "order": ("node.order = [0, 3, 1, 2]", made("Transpose", perm=[0, 1, 3, 2]), made("Transpose", perm=[0, 3, 1, 2])),
    "dst_type": ("assert node.dst_type == np.float32\nnode.dst_type = np.int64", made("Cast", to=1), made("Cast", to=7)),
    "size of a normalization": ("node.local_size = 5", made("LRN", size=3, alpha=0.5), made("LRN", size=5, alpha=0.5)),
    "mode": ("node.mode = 'reflect'", made("Pad", "x p"), made("Pad", "x p", mode="reflect")),
    "block_size": ("node.block_size = 1", made("DepthToSpace", blocksize=2), made("Identity")),
    "transpose_b": ("node['transpose_b'] = True", made("MatMul", "x k"), made("MatMul", "x t")),
    "coerced axis": ("node.axis = 2", made("LogSoftmax"), made("LogSoftmax", axis=2)),
}


@pytest.mark.parametrize(("lines", "before", "after"), ONNX.values(), ids=ONNX)
def test_an_attribute_of_the_front_phase_takes_effect(tmp_path, lines, before, after):
    values = {**BATCH_NORM, "k": SQUARE, "t": SQUARE.T.copy(), "p": np.array([0, 0, 1, 2, 0, 0, 2, 1])}

    def model(single):
        return build([single], {"x": X}, constants={name: value for name, value in values.items() if name in single.input}, opset=11)

    extension = write(tmp_path / "my_extension", with_node("front", lines))
    actual = Converted.of(model(before), tmp_path, extensions=[extension])
    compare(actual.run({"x": X}), expected_results(model(after), {"x": X}, "onnxruntime"))


def test_an_attribute_that_cannot_take_effect_is_an_error(tmp_path):
    nodes = [made("Concat", "x x", axis=1)]
    with pytest.raises(ConversionError, match=r"setting\.py:\d+.*'n': its attribute axis cannot be 'last'"):
        convert(tmp_path, with_node("middle", "node.axis = 'last'"), nodes, {"x": X})


def test_attributes_of_layers(tmp_path):
    text = input_layer(x=(1, 2, 4, 4)) + layer("Convolution", "convolution_param { num_output: 2 kernel_size: 1 }", tops=["c"], name="c")
    text += layer("ReLU", "relu_param { negative_slope: 0.5 }", ["c"], name="n") + layer("Softmax", "", ["y"], ["z"], "s")
    path = write_network(tmp_path, text, {"c": [np.eye(2, dtype=np.float32).reshape(2, 2, 1, 1), np.zeros(2, np.float32)]})
    lines = """
if node.name == 'n':
    node.negative_slope *= 0.5
if node.name == 's':
    assert node.axis == 1
    node.axis = 2
"""
    everything = "node.name in ('n', 's')"
    x = RNG.normal(size=(1, 2, 4, 4)).astype(np.float32)
    model = converted(path, extensions=write(tmp_path / "my_extension", with_node("front", lines, everything)))
    sloped = np.exp(np.where(x > 0, x, 0.25 * x))
    np.testing.assert_allclose(results(model, {"x": x})["z"], sloped / sloped.sum(2, keepdims=True), rtol=1e-5)
    files = with_node("front", "node['stride'] = int64_array([1, 1, 2, 2])", "node.op == 'Conv2D'")
    with pytest.raises(ConversionError, match=r"setting\.py:\d+.*'c': its attribute stride cannot be set.*replace the node"):
        converted(path, extensions=write(tmp_path / "other", files))


def test_an_attribute_of_the_extension_is_its_own(tmp_path):
    lines = "node['seen'] = [1, 2]\nnode['label'] = 'mine'\nassert node.seen == [1, 2] and node['label'] == 'mine'"
    actual = convert(tmp_path, with_node("front", lines), [made("Relu")], {"x": X})
    assert actual.types == ["ReLU"]
    assert actual.attributes("ReLU") == {}


def converted_graph(tmp_path, function, lines: str, inputs: dict, phase: str = "front") -> Converted:
    graph, _ = tensorflow_conversion.build(function, inputs)
    return Converted.of(graph, tmp_path, extensions=[write(tmp_path / "my_extension", with_node(phase, lines))])


def test_attributes_of_tensorflow(tmp_path):
    import tensorflow as tf

    image = X.transpose(0, 2, 3, 1)
    pads = [[0, 0], [1, 2], [2, 1], [0, 0]]
    sliced = {"input": image, "begin": [0, 1, 0, 1], "end": [1, 5, 4, 3], "strides": [1, 1, 1, 1]}
    raw = tf.raw_ops
    cases = {
        "node.adj_y = True": (
            lambda x: raw.BatchMatMulV2(x=x, y=SQUARE[:4, :4], name="n"),
            lambda x: raw.BatchMatMulV2(x=x, y=SQUARE[:4, :4].T, name="n"),
        ),
        "node.mode = 'reflect'": (
            lambda x: raw.Pad(input=x, paddings=pads, name="n"),
            lambda x: raw.MirrorPad(input=x, paddings=pads, mode="REFLECT", name="n"),
        ),
        "assert node.local_size == 5\nnode.local_size = 3": (
            lambda x: raw.LRN(input=x, depth_radius=2, alpha=0.5, name="n"),
            lambda x: raw.LRN(input=x, depth_radius=1, alpha=0.5, name="n"),
        ),
        "assert node.end_mask.tolist() == [1]\nnode.end_mask = int64_array([1, 0])": (
            lambda x: raw.StridedSlice(**{**sliced, "input": x}, name="n"),
            lambda x: raw.StridedSlice(**{**sliced, "input": x}, end_mask=2, name="n"),
        ),
        "node['pool_method'] = 'max'": (
            lambda x: raw.AvgPool(value=x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID", name="n"),
            lambda x: raw.MaxPool(input=x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID", name="n"),
        ),
    }
    for number, (lines, (before, after)) in enumerate(cases.items()):
        (directory := tmp_path / str(number)).mkdir()
        actual = converted_graph(directory, before, lines, {"x": image})
        compare(actual.run({"x": image}), [after(tf.constant(image)).numpy()])


# From the middle phase on, attributes of operations of the operation sets.
POOLED = [made("MaxPool", **POOL)]


@pytest.mark.parametrize("phase", ["middle", "back"])
def test_attributes_of_windows_after_the_lowering(tmp_path, phase):
    lines = """
assert node.stride.tolist() == [1, 1, 2, 2] and node.window.tolist() == [1, 1, 3, 3] and node.pool_method == 'max'
assert node.pad.tolist() == [[0, 0]] * 4 and node.spatial_dims.tolist() == [2, 3]
node.stride = int64_array([1, 1, 3, 1])
node.window = int64_array([1, 1, 2, 3])
node.pad = int64_array([[0, 0], [0, 0], [1, 0], [0, 1]])
"""
    actual = convert(tmp_path, with_node(phase, lines), POOLED, {"x": X})
    after = build([made("MaxPool", kernel_shape=[2, 3], strides=[3, 1], pads=[1, 0, 0, 1])], {"x": X}, opset=11)
    compare(actual.run({"x": X}), expected_results(after, {"x": X}, "onnxruntime"))


def test_names_of_convolutions_after_the_lowering(tmp_path):
    lines = """
for name in ('Convolution', 'Conv', 'Conv2D'):
    assert [each.name for each in graph.get_op_nodes(op=name)] == ['n', 'grouped'], name
assert [each.name for each in graph.get_op_nodes(type='Convolution')] == ['n']
assert [each.group for each in graph.get_op_nodes(op='Conv')] == [1, 2]
"""
    nodes = [node("Conv", ["x", "w"], ["c"], "n"), node("Conv", ["c", "v"], ["y"], "grouped", group=2)]
    weights = {"w": np.ones((4, 4, 1, 1), np.float32), "v": np.ones((4, 2, 1, 1), np.float32)}
    convert(tmp_path, with_node("middle", lines), nodes, {"x": X}, constants=weights)


def test_what_an_operation_of_a_set_is_cannot_be_set(tmp_path):
    with pytest.raises(ConversionError, match=r"setting\.py:\d+.*'n': its attribute pool_method cannot be set.*replace the node"):
        convert(tmp_path, with_node("middle", "node['pool_method'] = 'avg'"), POOLED, {"x": X})


MASKED = """
shape = Shape(graph, {'name': 'shape'}).create_node([node])
taken = create_op_with_const_inputs(graph, StridedSlice, {1: int64_array([2]), 2: int64_array([3]), 3: int64_array([1])},
    {'begin_mask': int64_array([1]), 'end_mask': int64_array([END]), 'new_axis_mask': int64_array([0]),
     'shrink_axis_mask': int64_array([0]), 'ellipsis_mask': int64_array([0])}, shape)
assert taken.begin_mask.tolist() == [1]
node.out_port(0).get_connection().set_source(taken.out_port(0))
shape.in_port(0).connect(node.out_port(0))
"""


@pytest.mark.parametrize("phase", ["front", "middle", "back"])
@pytest.mark.parametrize(("end", "expected"), [("1", [6]), ("0", [6, 5])])
def test_a_one_in_a_mask_says_that_the_entry_counts(tmp_path, phase, end, expected):
    x = np.zeros((1, 4, 6, 5), np.float32)
    actual = convert(tmp_path, with_node(phase, MASKED.replace("END", end)), [made("Relu")], {"x": x})
    np.testing.assert_array_equal(actual.run({"x": x})[0], expected)
