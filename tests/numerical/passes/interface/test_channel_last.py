"""Keras models, whose channels are last: preprocessing and layouts against Keras after the same preprocessing by numpy."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import openvino
import pytest

import moir
from tests.numerical.runtime import Array
from tests.numerical.tensorflow.conversion import core

# Keras is imported after the module that sets the environment of TensorFlow.
import keras  # isort: skip
from keras import layers  # isort: skip

MEAN, SCALE = np.float32([123.7, 116.3, 103.5]), np.float32([58.4, 57.1, 57.4])
RANDOM = np.random.default_rng(8)


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> tuple[keras.Model, Path]:
    """An image and a vector: strided and depthwise convolutions, a join, two outputs; the first convolution is not padded."""
    keras.utils.set_random_seed(3)
    image, vector = keras.Input((None, 20, 3), name="image"), keras.Input((4,), name="vector")
    value = layers.Conv2D(8, 3, strides=2, activation="relu")(image)
    value = layers.Add()([value, layers.DepthwiseConv2D(3, padding="same")(value)])
    scores = layers.Dense(5)(layers.Concatenate()([layers.GlobalAveragePooling2D()(value), vector]))
    model = keras.Model([image, vector], {"map": layers.Conv2D(2, 1, name="map")(value), "scores": scores})
    folder = tmp_path_factory.mktemp("network") / "model"
    model.export(folder, verbose=False)
    return model, folder


def check(network: tuple[keras.Model, Path], prepared: Array, given: Array, output: str = "nhwc", **options: Any) -> Counter[str]:
    """Compare the outputs of the IR for given data with those of Keras for prepared data; returns the kinds of operations."""
    model, folder = network
    vector = RANDOM.standard_normal((len(prepared), 4)).astype(np.float32)
    expected = {name: np.asarray(value) for name, value in model({"image": prepared, "vector": vector}).items()}
    expected["map"] = expected["map"].transpose(["nhwc".index(letter) for letter in output])
    converted = moir.to_openvino(moir.convert_model(folder, **options))
    results = core().compile_model(converted, "CPU")({"image": np.ascontiguousarray(given), "vector": vector})
    for name, wanted in expected.items():
        assert results[name].shape == wanted.shape
        np.testing.assert_allclose(results[name], wanted, rtol=1e-3, atol=1e-3 * np.max(np.abs(wanted)))
    return Counter(op.get_type_name() for op in converted.get_ops())


def pixels(reverses: bool, mean: Array, scale: Array) -> tuple[Array, Array]:
    """Random pixels, and what preprocessing makes of them."""
    raw = RANDOM.random((2, 14, 20, 3)).astype(np.float32) * 255
    return raw, ((raw[..., ::-1] if reverses else raw) - mean) / scale


@pytest.mark.parametrize("target", ["nhwc", "nchw"])
@pytest.mark.parametrize("reverses", [False, True])
def test_preprocessing_goes_into_the_first_convolution(network: tuple[keras.Model, Path], target: str, reverses: bool) -> None:
    raw, prepared = pixels(reverses, MEAN, SCALE)
    options = {"mean_values": {"image": MEAN}, "scale_values": {"image": SCALE}, "reverse_input_channels": reverses}
    given = raw if target == "nhwc" else raw.transpose(0, 3, 1, 2)
    actual = check(network, prepared, given, **options, layout={"image": ("nhwc", target)})
    assert not {"Subtract", "Multiply", "Divide", "Gather"} & set(actual)
    # The output is channel-last as before; the input only where its layout is.
    assert actual["Transpose"] == (2 if target == "nhwc" else 1)


def test_inputs_and_outputs_in_the_layout_of_the_runtime_need_no_transposition(network: tuple[keras.Model, Path]) -> None:
    raw, prepared = pixels(False, np.float32(127.5), np.float32(2))
    options = {"mean_values": {"image": 127.5}, "scale_values": "image(2)", "layout": "image(nhwc->nchw),map(nhwc->nchw)"}
    actual = check(network, prepared, raw.transpose(0, 3, 1, 2), "nchw", **options)
    assert actual["Transpose"] == 0


def test_bytes_and_their_layout(tmp_path: Path) -> None:
    image = keras.Input((12, 10, 3), dtype="uint8", name="image")
    planes = layers.Lambda(lambda x: keras.ops.cast(x, "float32"), output_shape=(12, 10, 3), dtype="uint8")(image)
    model = keras.Model(image, layers.Conv2D(4, 3, padding="same")(planes))
    model.export(tmp_path / "model", verbose=False)
    module = moir.convert_model(tmp_path / "model", mean_values=MEAN, scale_values=SCALE, reverse_input_channels=True, layout="nhwc->nchw")
    converted = moir.to_openvino(module)
    assert converted.input().element_type == openvino.Type.u8
    raw = RANDOM.integers(0, 256, (2, 12, 10, 3)).astype(np.uint8)
    result = core().compile_model(converted, "CPU")(np.ascontiguousarray(raw.transpose(0, 3, 1, 2)))[0]
    expected = np.asarray(model.layers[-1]((raw[..., ::-1] - MEAN) / SCALE))
    np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-3)
