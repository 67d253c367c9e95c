"""Whole networks: old formats, blobs that are written again, phases, losses, detection, and recurrent layers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import moir
from tests.numerical.caffe.networks import caffemodel, converted, input_layer, layer, opencv_result, random_inputs, results, write
from tests.numerical.runtime import Array

generator = np.random.default_rng(3)


def weight(*shape: int) -> Array:
    return generator.uniform(-1, 1, shape).astype(np.float32)


OLD = """
name: "old"
input: "data"
input_dim: 1 input_dim: 3 input_dim: 12 input_dim: 12
layers { name: "conv" type: CONVOLUTION bottom: "data" top: "conv" blobs_lr: 1 convolution_param { num_output: 4 kernel_size: 3 } }
layers { name: "relu" type: RELU bottom: "conv" top: "conv" }
layers { name: "pool" type: POOLING bottom: "conv" top: "pool" pooling_param { pool: MAX kernel_size: 3 stride: 2 } }
layers { name: "fc" type: INNER_PRODUCT bottom: "pool" top: "fc" inner_product_param { num_output: 5 } }
layers { name: "prob" type: SOFTMAX bottom: "fc" top: "prob" }
"""


@pytest.mark.parametrize("double", [False, True])
def test_network_of_old_layers(tmp_path: Path, double: bool) -> None:
    weights = {"conv": [weight(4, 3, 3, 3), weight(4)], "fc": [weight(5, 100), weight(5)]}
    path = write(tmp_path, OLD, weights, is_old=True, double=double)
    inputs = random_inputs(data=(1, 3, 12, 12))
    # OpenCV does not read double_data.
    reference = write(tmp_path / "single", OLD, weights, is_old=True) if double and not (tmp_path / "single").mkdir() else path
    np.testing.assert_allclose(results(converted(path), inputs)["prob"], opencv_result(reference, inputs), rtol=1e-4, atol=1e-6)


def test_blob_that_is_written_again_is_a_new_value(tmp_path: Path) -> None:
    text = (
        input_layer(x=(2, 3))
        + layer("Power", "power_param { scale: 2 }", ["x"], ["a"], "double")
        + layer("ReLU", "", ["a"], ["a"], "relu")
        + layer("Eltwise", "", ["a", "x"], ["y"], "sum")
        + layer("Power", "power_param { shift: 1 }", ["a"], ["a"], "plus")
    )
    path = write(tmp_path, text, {"double": []})
    x = random_inputs(x=(2, 3))["x"]
    outputs = results(converted(path), {"x": x})
    np.testing.assert_allclose(outputs["y"], np.maximum(2 * x, 0) + x, rtol=1e-6)
    np.testing.assert_allclose(outputs["a"], np.maximum(2 * x, 0) + 1, rtol=1e-6)


TRAINING = """
layer { name: "train" type: "Data" top: "data" top: "label" include { phase: TRAIN } transform_param { crop_size: 7 } }
layer { name: "test" type: "ImageData" top: "data" top: "label" include { phase: TEST } transform_param { crop_size: 5 } }
layer { name: "noise" type: "Power" bottom: "data" top: "data" exclude { phase: TEST } power_param { shift: 100 } }
layer { name: "staged" type: "Power" bottom: "data" top: "data" include { stage: "deploy" } power_param { shift: 100 } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" convolution_param { num_output: 2 kernel_size: 5 } }
layer { name: "drop" type: "Dropout" bottom: "conv" top: "conv" }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "conv" bottom: "label" top: "loss" }
layer { name: "accuracy" type: "Accuracy" bottom: "conv" bottom: "label" top: "accuracy" }
layer { name: "aux" type: "EuclideanLoss" bottom: "conv" bottom: "label" }
"""


def test_layers_of_training_are_left_out(tmp_path: Path) -> None:
    weights = [weight(2, 3, 5, 5), weight(2)]
    model = converted(write(tmp_path, TRAINING, {"conv": weights}))
    assert [each.any_name for each in model.inputs] == ["data"]
    assert [each.names for each in model.outputs] == [{"loss"}]
    assert model.inputs[0].partial_shape.to_string() == "[?,?,5,5]"
    x = random_inputs(data=(2, 3, 5, 5))["data"]
    logits = np.einsum("nchw,kchw->nk", x, weights[0]) + weights[1]
    expected = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    np.testing.assert_allclose(results(model, {"data": x})["loss"][:, :, 0, 0], expected, rtol=1e-5)


def test_maxima_return_to_their_indices(tmp_path: Path) -> None:
    text = (
        input_layer(x=(2, 3, 8, 6))
        + layer("Pooling", "pooling_param { pool: MAX kernel_size: 2 stride: 2 }", ["x"], ["pool", "mask"], "pool")
        + layer("Upsample", "upsample_param { scale: 2 }", ["pool", "mask"], ["y"], "up")
    )
    x = random_inputs(x=(2, 3, 8, 6))["x"]
    blocks = x.reshape(2, 3, 4, 2, 3, 2)
    expected = np.where(blocks == blocks.max((3, 5), keepdims=True), blocks, 0).reshape(x.shape)
    np.testing.assert_array_equal(results(converted(write(tmp_path, text, {"pool": []})), {"x": x})["y"], expected)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def test_lstm_begins_anew_where_a_sequence_does(tmp_path: Path) -> None:
    steps, batch, size = 5, 2, 3
    text = input_layer(x=(steps, batch, 4), cont=(steps, batch)) + layer("LSTM", f"recurrent_param {{ num_output: {size} }}", ["x", "cont"])
    weights = [weight(4 * size, 4), weight(4 * size), weight(4 * size, size)]
    inputs = random_inputs(x=(steps, batch, 4))
    cont = np.array([[0, 0], [1, 1], [1, 0], [1, 1], [0, 1]], np.float32)
    hidden = cell = np.zeros((batch, size), np.float32)
    expected: list[Array] = []
    for x, mark in zip(inputs["x"], cont[..., None], strict=True):
        gates = x @ weights[0].T + weights[1] + (mark * hidden) @ weights[2].T
        i, f, o, g = np.split(gates, 4, 1)
        cell = mark * sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
        hidden = sigmoid(o) * np.tanh(cell)
        expected.append(hidden)
    model = converted(write(tmp_path, text, {"layer": weights}))
    np.testing.assert_allclose(results(model, inputs | {"cont": cont})["y"], expected, rtol=1e-4, atol=1e-6)


def test_rnn(tmp_path: Path) -> None:
    text = input_layer(x=(4, 2, 3), cont=(4, 2)) + layer("RNN", "recurrent_param { num_output: 5 }", ["x", "cont"])
    weights = [weight(5, 3), weight(5), weight(5, 5), weight(5, 5), weight(5)]
    inputs = random_inputs(x=(4, 2, 3)) | {"cont": np.array([[0, 0], [1, 1], [1, 0], [1, 1]], np.float32)}
    hidden = np.zeros((2, 5), np.float32)
    expected: list[Array] = []
    for x, mark in zip(inputs["x"], inputs["cont"][..., None], strict=True):
        hidden = np.tanh(x @ weights[0].T + weights[1] + (mark * hidden) @ weights[2].T)
        expected.append(np.tanh(hidden @ weights[3].T + weights[4]))
    model = converted(write(tmp_path, text, {"layer": weights}))
    np.testing.assert_allclose(results(model, inputs)["y"], expected, rtol=1e-4, atol=1e-6)


PRIORS = (
    "prior_box_param { min_size: 10 max_size: 20 aspect_ratio: 2 aspect_ratio: 3 flip: true clip: true "
    "variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 step: 8 offset: 0.5 }"
)


@pytest.mark.parametrize(
    "parameters", [PRIORS, "prior_box_param { min_size: 12 min_size: 30 variance: 0.1 flip: false aspect_ratio: 2 clip: true }"]
)
def test_prior_boxes(tmp_path: Path, parameters: str) -> None:
    shapes = {"x": (1, 2, 5, 7), "image": (1, 3, 40, 56)}
    path = write(tmp_path, input_layer(**shapes) + layer("PriorBox", parameters, list(shapes)), {"layer": []})
    inputs = random_inputs(**shapes)
    np.testing.assert_allclose(results(converted(path), inputs)["y"], opencv_result(path, inputs), rtol=1e-5, atol=1e-6)


def test_filler_says_what_missing_weights_are(tmp_path: Path) -> None:
    parameters = (
        'convolution_param { num_output: 3 group: 3 kernel_size: 4 stride: 2 pad: 1 bias_term: false weight_filler { type: "bilinear" } }'
    )
    path = write(tmp_path, input_layer(x=(1, 3, 4, 5)) + layer("Deconvolution", parameters), {"layer": []})
    x = random_inputs(x=(1, 3, 4, 5))["x"]
    profile = np.array([0.25, 0.75, 0.75, 0.25])
    expected = np.zeros((1, 3, 10, 12))
    for i in range(4):
        for j in range(5):
            expected[:, :, 2 * i : 2 * i + 4, 2 * j : 2 * j + 4] += x[:, :, i, j, None, None] * np.outer(profile, profile)
    np.testing.assert_allclose(results(converted(path), {"x": x})["y"], expected[:, :, 1:-1, 1:-1], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("offsets", [None, "1,2", "(1, 2)"])
def test_mean_image_is_subtracted(tmp_path: Path, offsets: str | None) -> None:
    path = write(tmp_path, input_layer(x=(2, 3, 4, 6)) + layer("ReLU"), {"layer": []})
    mean = weight(1, 3, 8, 9)
    content = caffemodel({"mean": [mean]}, is_old=True)
    # The only layer has the only blob, whose bytes end the file.
    blob = next(content[start:] for start in range(len(content)) if content[start:].startswith(b"\x08\x01\x10\x03\x18\x08"))
    (tmp_path / "mean.binaryproto").write_bytes(blob)
    model = moir.to_openvino(moir.convert_model(path, mean_file=tmp_path / "mean.binaryproto", mean_file_offsets=offsets))
    x = random_inputs(x=(2, 3, 4, 6))["x"]
    top, left = (2, 1)
    np.testing.assert_allclose(results(model, {"x": x})["y"], np.maximum(x - mean[:, :, top : top + 4, left : left + 6], 0), atol=1e-6)
