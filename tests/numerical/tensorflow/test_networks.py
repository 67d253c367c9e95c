"""Networks of Keras, exported as SavedModels and converted as a user does: OpenVINO Runtime computes what Keras computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import openvino
import pytest

from tests.numerical.tensorflow.conversion import core

# Keras is imported after the module that sets the environment of TensorFlow.
import keras  # isort: skip
from keras import layers  # isort: skip

from moir.tools.convert import main

TOLERANCE = 1e-3


def image_model(inputs: tuple[int, int, int], *body: Callable[[keras.KerasTensor], keras.KerasTensor]) -> keras.Model:
    """A model of an image whose body is applied layer by layer."""
    image = keras.Input(inputs, name="image")
    value = image
    for layer in body:
        value = layer(value)
    return keras.Model(image, value)


def segmentation() -> keras.Model:
    """A U-Net: down with pooling and strides, up with both kinds of enlargement, joined by skip connections."""
    image = keras.Input((32, 24, 3), name="image")
    first = layers.Conv2D(8, 3, padding="same", activation="relu")(image)
    second = layers.BatchNormalization()(layers.Conv2D(16, 3, strides=2, padding="same")(first))
    third = layers.DepthwiseConv2D(3, dilation_rate=2, padding="same", activation="relu")(layers.MaxPooling2D()(second))
    up = layers.Concatenate()([layers.UpSampling2D(interpolation="bilinear")(third), second])
    up = layers.Conv2DTranspose(8, 3, strides=2, padding="same", activation="swish")(up)
    weights = layers.Conv2D(8, 1, activation="sigmoid")(layers.GlobalAveragePooling2D(keepdims=True)(up))
    joined = layers.Add()([layers.Multiply()([up, weights]), first])
    return keras.Model(image, layers.Conv2D(4, 1, activation="softmax")(joined))


def text() -> keras.Model:
    """Embedding, recurrent layers in both directions, attention."""
    tokens = keras.Input((11,), dtype="int32", name="tokens")
    value = layers.Embedding(30, 8)(tokens)
    value = layers.Bidirectional(layers.LSTM(6, return_sequences=True))(value)
    value = layers.GRU(12, return_sequences=True)(value)
    value = layers.LayerNormalization()(layers.Add()([value, layers.MultiHeadAttention(2, 6)(value, value)]))
    return keras.Model(tokens, layers.Dense(3, activation="softmax")(layers.GlobalMaxPooling1D()(value)))


NETWORKS: dict[str, tuple[Callable[[], keras.Model], tuple[int, ...], int]] = {
    "mobilenet_v2": (lambda: keras.applications.MobileNetV2((64, 48, 3), alpha=0.35, weights=None, classes=7), (2, 64, 48, 3), 1),
    "mobilenet_v3": (lambda: keras.applications.MobileNetV3Small((64, 48, 3), weights=None, classes=7), (2, 64, 48, 3), 1),
    "segmentation": (segmentation, (2, 32, 24, 3), 2),
    "nearest": (lambda: image_model((9, 8, 4), layers.Conv2D(6, 3), layers.UpSampling2D(3), layers.Conv2D(5, 1)), (2, 9, 8, 4), 2),
    "text": (text, (2, 11), 4),
}
"""The network, the shape of its input, and how many Transposes its IR has."""


def randomize(model: keras.Model) -> None:
    """Give all weights, statistics included, values of their own."""
    random = np.random.default_rng(3)
    for variable in model.variables:
        if "float" in str(variable.dtype):
            scale = 1 / np.sqrt(max(1, np.prod(variable.shape[:-1])))
            is_variance = "variance" in variable.path
            variable.assign(random.uniform(0.5, 1.5, variable.shape) if is_variance else random.normal(0, scale, variable.shape))


@pytest.mark.parametrize("name", NETWORKS)
def test_outputs_are_those_of_keras(name: str, tmp_path: Path) -> None:
    build, shape, transposes = NETWORKS[name]
    keras.utils.set_random_seed(5)
    model = build()
    randomize(model)
    random = np.random.default_rng(4)
    x = random.integers(0, 30, shape).astype(np.int32) if len(shape) == 2 else random.normal(size=shape).astype(np.float32)
    expected = np.asarray(model(x, training=False))
    model.export(tmp_path / "model", format="tf_saved_model", verbose=False)

    assert main([str(tmp_path / "model"), "-o", str(tmp_path / "network.xml"), "--silent"]) == 0

    network = core().read_model(tmp_path / "network.xml")
    assert Counter(op.get_type_name() for op in network.get_ops())["Transpose"] == transposes
    (port,) = network.inputs
    assert port.get_names() & {"image", "tokens", model.inputs[0].name}
    result = core().compile_model(network, "CPU")([x])[0]
    assert result.shape == expected.shape
    assert np.max(np.abs(result - expected)) <= TOLERANCE * np.max(np.abs(expected))


def test_the_correct_form_computes_the_same(tmp_path: Path) -> None:
    keras.utils.set_random_seed(5)
    model = segmentation()
    x = np.random.default_rng(4).normal(size=(1, 32, 24, 3)).astype(np.float32)
    model.export(tmp_path / "model", format="tf_saved_model", verbose=False)
    counts: list[int] = []
    for policy in ("auto", "none"):
        xml = tmp_path / f"{policy}.xml"
        assert main([str(tmp_path / "model"), "-o", str(xml), "--layout-change", policy, "--silent"]) == 0
        network: openvino.Model = core().read_model(xml)
        counts.append(Counter(op.get_type_name() for op in network.get_ops())["Transpose"])
        np.testing.assert_allclose(core().compile_model(network, "CPU")([x])[0], np.asarray(model(x)), rtol=1e-3, atol=1e-5)
    assert counts[0] == 2
    assert counts[1] >= 10
