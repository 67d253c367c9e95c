"""Extensions in the styles of public repositories, 2018 to 2022, whose operations have reference kernels."""

from __future__ import annotations

import json

import numpy as np
import tensorflow as tf
from onnx import helper

from tests.numerical.model_optimizer.conversion import EXAMPLES, Converted
from tests.numerical.model_optimizer.kernels import kernel, run_with
from tests.numerical.onnx.conversion import build, expected_results, node
from tests.numerical.runtime import compare
from tests.numerical.tensorflow import conversion as tensorflow_conversion

RNG = np.random.default_rng(0)
STYLES = EXAMPLES / "styles"
X = RNG.normal(size=(1, 6, 5, 3)).astype(np.float32)
WEIGHTS = RNG.normal(size=(3, 3, 3, 4)).astype(np.float32)


def convolved(x):
    return tf.nn.conv2d(x, WEIGHTS, 1, "SAME")


def check(directory, extension, function, x, *kernels):
    """Convert a graph with an extension, and compare what is computed with TensorFlow."""
    graph, names = tensorflow_conversion.build(function, {"x": x})
    converted = Converted.of(graph, directory, extensions=[STYLES / extension])
    compare(run_with(converted, {"x": x}, *kernels), tensorflow_conversion.expected_results(graph, names, {"x": x}), rtol=1e-3)
    return converted


def test_a_function_of_2018(tmp_path):
    cosh = kernel("Cosh2", {}, lambda _, shapes: shapes[0], lambda _, inputs: np.cosh(inputs[0]))
    converted = check(tmp_path, "cosh", lambda x: tf.nn.relu(tf.raw_ops.Cosh(x=convolved(x))), X, cosh)
    assert converted.layer("Cosh2").get("version") == "extension"
    assert converted.shape("Cosh2") == [1, 4, 6, 5]


def test_a_resize_of_2018_whose_infer_removes_an_input(tmp_path):
    attributes = {"factor": 2, "width": 0, "height": 0, "align_corners": 0}
    resize = kernel(
        "CustomResize",
        attributes,
        lambda given, shapes: [*shapes[0][:2], given["height"], given["width"]],
        lambda given, inputs: inputs[0].repeat(given["factor"], 2).repeat(given["factor"], 3),
    )
    converted = check(
        tmp_path, "custom_resize", lambda x: tf.nn.relu(tf.raw_ops.ResizeNearestNeighbor(images=convolved(x), size=[12, 10])), X, resize
    )
    assert converted.attributes("CustomResize") == {"factor": "2", "width": "10", "height": "12", "align_corners": "0"}


def test_a_crop_instead_of_a_slice(tmp_path):
    crop = kernel(
        "MyCrop", dict.fromkeys(("axis", "offset", "dim"), ""), lambda *_: [1, 4, 4, 3], lambda _, inputs: inputs[0][:, :, 1:5, 2:5]
    )
    converted = check(tmp_path, "custom_crop", lambda x: tf.nn.relu(tf.slice(convolved(x), [0, 1, 2, 0], [-1, 4, 3, -1])), X, crop)
    assert converted.attributes("MyCrop") == {"axis": "2,3", "offset": "1,2", "dim": "4,3"}


def test_batch_to_space(tmp_path):
    def compute(_, inputs):
        data, block, crops = inputs
        assert block.tolist() == [1, 1, 2, 2]
        assert crops.tolist() == [[0, 0], [0, 0], [0, 1], [0, 0]]
        spread = data.reshape(2, 2, 1, 4, 3, 3).transpose(2, 3, 4, 0, 5, 1)
        return spread.reshape(1, 4, 6, 6)[:, :, :5]

    batch_to_space = kernel("MyBatchToSpace", {}, lambda *_: [1, 4, 5, 6], compute)
    x = RNG.normal(size=(4, 3, 3, 3)).astype(np.float32)
    given = {"block_shape": [2, 2], "crops": [[0, 1], [0, 0]]}
    check(tmp_path, "batch_to_space", lambda x: tf.nn.relu(tf.raw_ops.BatchToSpaceND(input=convolved(x), **given)), x, batch_to_space)


def test_log_norm_pooling(tmp_path):
    def compute(_, inputs):
        assert inputs[1].tolist() == [2, 3]
        return np.log(np.exp(inputs[0]).mean((2, 3), keepdims=True))

    pooling = kernel("LogNormPool", {"p": 2.0, "keep_dims": True}, lambda *_: [1, 4, 1, 1], compute)
    converted = check(
        tmp_path,
        "log_norm_pooling",
        lambda x: tf.nn.relu(tf.math.log(tf.reduce_mean(tf.exp(convolved(x)), [1, 2], keepdims=True))),
        X,
        pooling,
    )
    assert converted.attributes("LogNormPool") == {"p": "2.0", "keep_dims": "true"}


def test_a_prelu_of_elementary_operations(tmp_path):
    slopes = RNG.uniform(0.1, 0.9, 4).astype(np.float32)

    def fused(x):
        data = convolved(x)
        return tf.nn.relu(data) + slopes * -tf.nn.relu(-data)

    converted = check(tmp_path, "prelu_fusion", fused, X)
    assert "PReLU" in converted.types


def test_p_norm_pooling(tmp_path):
    x = RNG.normal(size=(1, 3, 7, 7)).astype(np.float32)
    model = build([node("LpPool", ["x"], ["y"], "lp", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], p=3)], {"x": x}, opset=11)
    converted = Converted.of(model, tmp_path, extensions=[STYLES / "lp_pooling"])
    compare(converted.run({"x": x}), expected_results(model, {"x": x}, "onnxruntime"))


def test_unpooling(tmp_path):
    x = RNG.uniform(0.1, 1, (1, 3, 4, 4)).astype(np.float32)
    nodes = [
        node("MaxPool", ["x"], ["p", "i"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Unpool2d", ["p", "i"], ["u"], "unpool", domain="org.pytorch"),
        helper.make_node("Frobenius", ["u"], ["y"], "norm", domain="org.pytorch", dims=[2, 3], keep=1),
    ]

    def unpooled(_, inputs):
        spread = inputs[0].repeat(2, 2).repeat(2, 3)
        return np.where(spread == inputs[2], spread, 0)

    extension = STYLES / "unpooling"
    converted = Converted.of(build(nodes, {"x": x}, opset=11), tmp_path, extensions=[extension])
    assert converted.layer("Unpool2d").get("version") == "extension"
    actual = run_with(converted, {"x": x}, kernel("Unpool2d", {}, lambda _, shapes: shapes[2], unpooled))
    largest = x.reshape(1, 3, 2, 2, 2, 2).max((3, 5))
    compare(actual, [np.sqrt((largest**2).sum((2, 3), keepdims=True))])


def test_the_configuration_of_an_inpainting_network(tmp_path):
    inner = {"inputs": [[{"node": "mul$", "port": 0}], [{"node": "add$", "port": 1}]], "outputs": [{"node": "out$", "port": 0}]}
    custom = {"ksize": 3, "rate": 2, "softmax_scale": 10.0}
    entries = [
        {"id": "InpaintAttention", "match_kind": "scope", "instances": ["att/inner"], "custom_attributes": custom, **inner},
        {"id": "InpaintRange", "match_kind": "general", "custom_attributes": {"nodes": ["final/Tanh"], "factor": 127.5}},
    ]
    (tmp_path / "inpainting.json").write_text(json.dumps(entries))
    graph = tf.Graph()
    with graph.as_default():
        data = tf.nn.conv2d(tf.compat.v1.placeholder(tf.float32, X.shape, "x"), WEIGHTS, 1, "SAME", name="conv")
        background = tf.nn.relu(data, name="background")
        with tf.compat.v1.name_scope("att"), tf.compat.v1.name_scope("inner"):
            attended = tf.nn.elu(tf.add(tf.multiply(data, 2.0, name="mul"), background, name="add"), name="out")
        with tf.compat.v1.name_scope("final"):
            tf.identity(tf.tanh(attended, name="Tanh"), name="result")
    extension = STYLES / "inpainting"
    converted = Converted.of(graph, tmp_path, extensions=[extension], transformations_config=tmp_path / "inpainting.json")
    assert converted.attributes("ContextualAttention") == {"ksize": "3", "rate": "2", "softmax_scale": "10.0"}
    assert converted.shape("ContextualAttention") == [1, 4, 6, 5]
    attention = kernel("ContextualAttention", custom, lambda _, shapes: shapes[0], lambda _, inputs: 2 * inputs[0] + inputs[1])
    data = tf.nn.conv2d(X, WEIGHTS, 1, "SAME").numpy()
    compare(run_with(converted, {"x": X}, attention), [127.5 * np.tanh(2 * data + np.maximum(data, 0))], rtol=1e-3)
