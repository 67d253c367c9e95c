"""A user saves a Keras 3 model whose layers share a name, and each layer has its own weights in the IR."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

import moir
from moir.errors import ModelFileError
from tests.numerical.runtime import compare, core

RUNS = 3


def filled(model: Any) -> Any:
    """A Keras model with different numbers in each weight."""
    for number, weight in enumerate(model.weights):
        if weight.dtype == "float32":
            weight.assign(np.random.default_rng(number).uniform(-1, 1, weight.shape).astype(np.float32))
    return model


def two_sub_models() -> Any:
    """The average of two models, both with a layer `dense`."""

    def part() -> Any:
        inputs = tf.keras.Input((4,))
        return tf.keras.Model(inputs, tf.keras.layers.Dense(4, name="dense")(inputs))

    inputs = tf.keras.Input((4,), name="x")
    first, second = part(), part()
    return tf.keras.Model(inputs, tf.keras.layers.Average()([first(inputs), second(first(inputs))]))


class Nested(tf.keras.layers.Layer):
    """A list and a dictionary of layers, all of one name, one of them used twice."""

    def __init__(self) -> None:
        super().__init__()
        self.listed = [tf.keras.layers.Dense(4, name="part") for _ in range(3)]
        self.named = {key: tf.keras.layers.Dense(4, name="part") for key in ("b", "a")}
        self.again = self.listed[0]

    def call(self, x: Any) -> Any:
        for layer in (*self.listed, self.again):
            x = tf.keras.ops.tanh(layer(x))
        return self.named["a"](x) - self.named["b"](x)


class TrapNames(tf.keras.layers.Layer):
    """The second weight `w` gets a node of the name that the third weight has itself."""

    def build(self, input_shape: Any) -> None:
        self.parts = [self.add_weight(shape=(input_shape[-1],), name=name) for name in ("w", "w", "w_1", "w")]

    def call(self, x: Any) -> Any:
        return x * self.parts[0] + x * x * self.parts[1] + self.parts[2] - x**3 * self.parts[3]


def layered(layer: Any) -> Any:
    inputs = tf.keras.Input((4,), name="x")
    return tf.keras.Model(inputs, layer(inputs))


def stateful() -> Any:
    """Recurrent layers that go on where the call before ended; both states of an LSTM have one name."""
    inputs = tf.keras.Input(batch_shape=(1, 4), name="x")
    value = tf.keras.layers.Reshape((2, 2))(inputs)
    value = tf.keras.layers.LSTM(5, stateful=True, return_sequences=True, name="cell")(value)
    return tf.keras.Model(inputs, tf.keras.layers.GRU(3, stateful=True, name="cell_1")(value))


class Captures(tf.Module):
    """Variables of one name, in a list, a dictionary and alone; a table and a tensor that the function captures, too."""

    def __init__(self) -> None:
        super().__init__()
        variables = [tf.Variable(tf.constant(np.random.default_rng(seed).uniform(-1, 1, 4), tf.float32), name="w") for seed in range(4)]
        self.single, self.listed, self.named = variables[3], variables[:2], {"k": variables[2], "again": variables[0]}
        keys, values = tf.constant([0, 1], tf.int64), tf.constant([0.5, 2.0])
        self.table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), 1.0)
        self.tensor = tf.constant(np.arange(4, dtype=np.float32))

    @tf.function(input_signature=[tf.TensorSpec((None, 4), tf.float32, name="x")])
    def __call__(self, x: Any) -> Any:
        y = x * self.named["k"] + self.single + self.tensor * self.listed[1]
        return {"y": y * self.table.lookup(tf.constant(1, tf.int64)) - self.listed[0] * self.named["again"]}


MODELS: dict[str, Callable[[], Any]] = {
    "two sub-models": lambda: filled(two_sub_models()),
    "lists and dictionaries of layers": lambda: filled(layered(Nested())),
    "names that nodes of others have": lambda: filled(layered(TrapNames())),
    "stateful": lambda: filled(stateful()),
    "module": Captures,
}


def saved(model: Any, folder: Path) -> Path:
    """Save a model as `tf.saved_model.save` does."""
    function = tf.function(lambda x: model(x), input_signature=[tf.TensorSpec((1, 4), tf.float32, name="x")])
    tf.saved_model.save(model, folder, signatures=function.get_concrete_function())
    return folder


def renamed(folder: Path) -> None:
    """Give all variables one shared name, as TensorFlow before 2.5 did, and write the nodes in another order."""
    message = saved_model_pb2.SavedModel.FromString((folder / "saved_model.pb").read_bytes())
    graph = message.meta_graphs[0].graph_def
    for node in graph.node:
        if node.op == "VarHandleOp":
            node.attr["shared_name"].s = b"w"
    nodes = list(reversed(graph.node))
    del graph.node[:]
    graph.node.extend(nodes)
    (folder / "saved_model.pb").write_bytes(message.SerializeToString())


def check(folder: Path, source: Path) -> None:
    """Convert a SavedModel, and compare results in a row with TensorFlow's."""
    function = tf.saved_model.load(source).signatures["serving_default"]
    moir.save_model(moir.convert_model(folder), folder / "model.xml")
    request = core().compile_model(folder / "model.xml", "CPU").create_infer_request()
    for seed in range(RUNS):
        x = np.random.default_rng(seed).uniform(-1, 1, (1, 4)).astype(np.float32)
        [expected] = function(x=tf.constant(x)).values()
        compare(list(request.infer({"x": x}).values()), [expected.numpy()])


@pytest.mark.parametrize("name", MODELS)
def test_each_has_its_own_value(tmp_path: Path, name: str) -> None:
    folder = saved(MODELS[name](), tmp_path / "model")
    check(folder, folder)


@pytest.mark.parametrize("name", ["two sub-models", "stateful", "module"])
def test_neither_shared_names_nor_the_order_of_nodes_matter(tmp_path: Path, name: str) -> None:
    model = MODELS[name]()
    folder = saved(model, tmp_path / "model")
    source = saved(model, tmp_path / "source")
    renamed(folder)
    check(folder, source)


def test_exports_of_keras(tmp_path: Path) -> None:
    model = MODELS["lists and dictionaries of layers"]()
    model.export(tmp_path / "model", verbose=False)
    x = np.random.default_rng(0).uniform(-1, 1, (2, 4)).astype(np.float32)
    moir.save_model(moir.convert_model(tmp_path / "model"), tmp_path / "model.xml")
    compare(list(core().compile_model(tmp_path / "model.xml", "CPU")({"x": x}).values()), [np.asarray(model(x))])


def test_a_variable_without_value(tmp_path: Path) -> None:
    """The object of a variable is not in the checkpoint: the message says what to export instead."""
    folder = saved(MODELS["module"](), tmp_path / "model")
    message = saved_model_pb2.SavedModel.FromString((folder / "saved_model.pb").read_bytes())
    objects = message.meta_graphs[0].object_graph_def
    [single] = [child for child in objects.nodes[0].children if child.local_name == "single"]
    single.local_name = "elsewhere"
    message.meta_graphs[0].saver_def.Clear()
    (folder / "saved_model.pb").write_bytes(message.SerializeToString())
    with pytest.raises(ModelFileError, match=r"the variable is read and has no value; make it an attribute of the object"):
        moir.convert_model(folder)
