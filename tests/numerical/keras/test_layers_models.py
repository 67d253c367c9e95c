"""Layers models of TensorFlow.js: the runtime computes what numpy and Keras do from the same weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moir
from tests.numerical.keras.models import inputs_of, keras, randomize
from tests.numerical.runtime import Array, core
from tests.unit.frontends.tensorflow_js.exporter import (
    dequantized,
    functional,
    input_layer,
    keras_topology,
    layer,
    written_model,
    written_weights,
)

RANDOM = np.random.default_rng(0)


def weights(*shape: int) -> Array:
    """Random values of float32."""
    return RANDOM.standard_normal(shape).astype(np.float32)


def results(path: Path, *inputs: Array) -> list[Array]:
    """The results of a model in OpenVINO Runtime."""
    compiled = core().compile_model(moir.to_openvino(moir.convert_model(path)), "CPU")
    return [*compiled([*inputs]).values()]


def classifier(folder: Path, quantization: Any = None, shard: int = 1 << 22) -> tuple[Path, dict[str, Array]]:
    """Two dense layers of a Sequential model, as the converter writes one."""
    values = {"fc1/kernel": weights(4, 6), "fc1/bias": weights(6), "fc2/kernel": weights(6, 3), "fc2/bias": weights(3)}
    config = {
        "name": "sequential",
        "layers": [
            layer("Dense", "fc1", units=6, activation="relu", use_bias=True, batch_input_shape=[None, 4], dtype="float32"),
            layer("Dense", "fc2", units=3, activation="linear", use_bias=True, dtype="float32"),
        ],
    }
    manifest = written_weights(folder, [values], quantization, shard)
    topology = keras_topology({"class_name": "Sequential", "config": config})
    return written_model(folder, topology, manifest, format="layers-model", generatedBy="keras v2.15.0"), values


def expected_classes(values: dict[str, Array], x: Array) -> Array:
    """What the classifier computes."""
    return np.maximum(x @ values["fc1/kernel"] + values["fc1/bias"], 0) @ values["fc2/kernel"] + values["fc2/bias"]


def test_a_sequential_model(tmp_path: Path) -> None:
    path, values = classifier(tmp_path)
    x = weights(5, 4)
    np.testing.assert_allclose(results(path, x)[0], expected_classes(values, x), rtol=1e-5, atol=1e-5)


def test_the_folder_stands_for_the_model(tmp_path: Path) -> None:
    path, values = classifier(tmp_path)
    x = weights(5, 4)
    np.testing.assert_allclose(results(path.parent, x)[0], expected_classes(values, x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float16"])
def test_quantized_weights(dtype: str, tmp_path: Path) -> None:
    path, values = classifier(tmp_path, dtype, shard=7)
    x = weights(5, 4)
    decoded = {name: dequantized(each, dtype) for name, each in values.items()}
    np.testing.assert_allclose(results(path, x)[0], expected_classes(decoded, x), rtol=1e-5, atol=1e-5)


def test_some_weights_are_quantized(tmp_path: Path) -> None:
    path, values = classifier(tmp_path, {"fc1/kernel": "uint8", "fc2/bias": "float16"}, shard=30)
    x = weights(5, 4)
    decoded = values | {"fc1/kernel": dequantized(values["fc1/kernel"], "uint8"), "fc2/bias": dequantized(values["fc2/bias"], "float16")}
    np.testing.assert_allclose(results(path, x)[0], expected_classes(decoded, x), rtol=1e-5, atol=1e-5)


def test_a_quantized_weight_that_is_computed_when_it_is_read(tmp_path: Path) -> None:
    kernel = weights(200, 120)
    layers = [input_layer("x", [200]), layer("Dense", "fc", ["x"], units=120, use_bias=False, activation="linear")]
    manifest = written_weights(tmp_path, [{"fc/kernel": kernel}], "uint8", shard=1000)
    path = written_model(tmp_path, keras_topology(functional(layers, ["x"], ["fc"])), manifest)
    x = weights(3, 200)
    np.testing.assert_allclose(results(path, x)[0], x @ dequantized(kernel, "uint8"), rtol=1e-4, atol=1e-4)


def test_a_model_that_javascript_saved(tmp_path: Path) -> None:
    """Its topology is the configuration itself, weights of optimizers are in the manifest, too."""
    values = {"conv2d_Conv2D1/kernel": weights(3, 3, 2, 4), "conv2d_Conv2D1/bias": weights(4), "dense_Dense1/kernel": weights(64, 2)}
    values |= {"dense_Dense1/bias": weights(2)}
    layers = [
        layer(
            "Conv2D",
            "conv2d_Conv2D1",
            filters=4,
            kernel_size=[3, 3],
            strides=[1, 1],
            padding="same",
            data_format="channels_last",
            dilation_rate=[1, 1],
            activation="relu",
            use_bias=True,
            trainable=True,
            batch_input_shape=[None, 4, 4, 2],
            dtype="float32",
        ),
        layer("Flatten", "flatten_Flatten1", trainable=True),
        layer("Dense", "dense_Dense1", units=2, activation="softmax", use_bias=True, trainable=True),
    ]
    manifest = written_weights(tmp_path, [values])
    manifest += written_weights(tmp_path / "other", [{"Variable/m": weights(3)}])
    manifest[-1]["weights"][0]["group"] = "optimizer"
    manifest[-1]["paths"] = ["other/group1-shard1of1.bin"]
    topology = {"class_name": "Sequential", "config": {"name": "s", "layers": layers}, "keras_version": "tfjs-layers 4.22.0"}
    path = written_model(tmp_path, topology | {"backend": "tensor_flow.js"}, manifest, format="layers-model")
    model = keras.Sequential(
        [
            keras.Input((4, 4, 2)),
            keras.layers.Conv2D(4, 3, padding="same", activation="relu"),
            keras.layers.Flatten(),
            keras.layers.Dense(2, activation="softmax"),
        ]
    )
    model.set_weights([*values.values()])
    x = weights(2, 4, 4, 2)
    np.testing.assert_allclose(results(path, x)[0], np.asarray(model(x)), rtol=1e-4, atol=1e-5)


def test_nested_models_and_recurrent_layers(tmp_path: Path) -> None:
    """The names of weights do not have the name of the model around a layer, and may have that of a cell."""
    values = {
        "embedding/embeddings": weights(7, 5),
        "bidirectional/forward_lstm/lstm_cell_1/kernel": weights(5, 12),
        "bidirectional/forward_lstm/lstm_cell_1/recurrent_kernel": weights(3, 12),
        "bidirectional/forward_lstm/lstm_cell_1/bias": weights(12),
        "bidirectional/backward_lstm/lstm_cell_2/kernel": weights(5, 12),
        "bidirectional/backward_lstm/lstm_cell_2/recurrent_kernel": weights(3, 12),
        "bidirectional/backward_lstm/lstm_cell_2/bias": weights(12),
        "head/kernel": weights(6, 2),
        "head/bias": weights(2),
        "norm/gamma": weights(2),
        "norm/beta": weights(2),
        "norm/moving_mean": weights(2),
        "norm/moving_variance": np.abs(weights(2)) + 0.5,
    }
    lstm = {"units": 3, "activation": "tanh", "recurrent_activation": "sigmoid", "use_bias": True, "return_sequences": False}
    tower_layers = [input_layer("t", [6]), layer("Dense", "head", ["t"], units=2, activation="tanh", use_bias=True)]
    tower_layers += [layer("BatchNormalization", "norm", ["head"], axis=-1, epsilon=0.001, center=True, scale=True)]
    tower = layer("Model", "tower") | functional(tower_layers, ["t"], ["norm"], "tower")
    tower["inbound_nodes"] = [[["bidirectional", 0, 0, {}]]]
    layers = [
        input_layer("ids", [4], "int32"),
        layer("Embedding", "embedding", ["ids"], input_dim=7, output_dim=5, mask_zero=False),
        layer(
            "Bidirectional",
            "bidirectional",
            ["embedding"],
            layer={"class_name": "LSTM", "config": lstm | {"name": "lstm"}},
            merge_mode="concat",
        ),
        tower,
    ]
    config = functional(layers, ["ids"], ["tower"])
    config["config"]["output_layers"] = [["tower", 1, 0]]
    path = written_model(tmp_path, keras_topology(config), written_weights(tmp_path, [values], shard=100))
    ids = keras.Input((4,), dtype="int32")
    y = keras.layers.Bidirectional(keras.layers.LSTM(3))(keras.layers.Embedding(7, 5)(ids))
    y = keras.layers.BatchNormalization(epsilon=0.001)(keras.layers.Dense(2, activation="tanh")(y))
    model = keras.Model(ids, y)
    model.set_weights([*values.values()])
    x = np.array([[1, 2, 3, 4], [6, 5, 0, 2]], np.int32)
    np.testing.assert_allclose(results(path, x)[0], np.asarray(model(x)), rtol=1e-4, atol=1e-5)


def test_groups_by_layer(tmp_path: Path) -> None:
    values = {"a/kernel": weights(4, 3), "b/kernel": weights(4, 3), "b/bias": weights(3)}
    layers = [
        input_layer("x", [4]),
        layer("Dense", "a", ["x"], units=3, use_bias=False),
        layer("Dense", "b", ["x"], units=3, use_bias=True),
    ]
    layers.append(layer("Add", "sum", ["a", "b"]))
    groups = [{"b/kernel": values["b/kernel"], "b/bias": values["b/bias"]}, {"a/kernel": values["a/kernel"]}]
    path = written_model(tmp_path, keras_topology(functional(layers, ["x"], ["sum"])), written_weights(tmp_path, groups))
    x = weights(2, 4)
    np.testing.assert_allclose(
        results(path, x)[0], x @ values["a/kernel"] + x @ values["b/kernel"] + values["b/bias"], rtol=1e-4, atol=1e-5
    )


def test_a_model_of_keras_3(tmp_path: Path) -> None:
    """The converter takes the modules of classes out of the configuration, and names a variable by its layer and its number."""

    def without_modules(value: Any) -> Any:
        if isinstance(value, list):
            return [without_modules(each) for each in value]
        if not isinstance(value, dict):
            return value
        return {key: without_modules(each) for key, each in value.items() if key not in ("module", "registered_name", "date_saved")}

    x = keras.Input((8, 8, 3), name="x")
    y = keras.layers.DepthwiseConv2D(3, name="d")(x)
    y = keras.layers.BatchNormalization(name="n")(y)
    y = keras.layers.GlobalAveragePooling2D(name="g")(keras.layers.ReLU(6.0, name="r")(y))
    model = keras.Model(x, keras.layers.Dense(3, activation="softmax", name="o")(y), name="m")
    randomize(model)
    values = {f"{each.name}/{index}": np.asarray(value) for each in model.layers for index, value in enumerate(each.weights)}
    topology = {"keras_version": "3.15.0", "model_config": without_modules(json.loads(model.to_json()))}
    path = written_model(tmp_path, topology, written_weights(tmp_path, [values], shard=64), format="layers-model")
    inputs = inputs_of(model)
    np.testing.assert_allclose(results(path, *inputs)[0], np.asarray(model(inputs[0])), rtol=1e-4, atol=1e-5)
