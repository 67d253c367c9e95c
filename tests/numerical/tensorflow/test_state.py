"""Variables that a model reads and writes: several inferences in a row, against TensorFlow's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.conversion import save_model
from moir.dialects.moir import ModuleLevel, models_of
from moir.dialects.properties import value_of
from moir.errors import ModelFileError
from moir.interface import convert_model
from tests.numerical.runtime import Array, compare, core

RUNS = 4
V1 = tf.compat.v1


def stateful_kinds(path: Path) -> int:
    """How many variables with a state a written IR has."""
    model = core().read_model(path)
    return sum(op.get_type_name() == "ReadValue" for op in model.get_ordered_ops())


def infer_in_a_row(path: Path, inputs: Sequence[Mapping[str, Array]]) -> list[list[Array]]:
    """The results of a model of an IR for several inputs in a row, by one infer request; then again after a reset."""
    request = core().compile_model(core().read_model(path), "CPU").create_infer_request()
    collected = []
    for _ in range(2):
        for each in inputs:
            results = request.infer(each)
            collected.append([np.array(results[output]) for output in request.model_outputs])
        request.reset_state()
    return collected


def numbers(shape: Sequence[int], seed: int, dtype: Any = np.float32) -> Array:
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


class Counter(tf.Module):
    """Counts its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = tf.Variable(0, dtype=tf.int64)

    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
    def __call__(self, x: Any) -> Any:
        before = tf.identity(self.calls)
        self.calls.assign_add(1)
        return {"before": before, "y": x * tf.cast(self.calls, tf.float32)}


class Mean(tf.Module):
    """A running mean by a function in a function, and a matrix of which rows and parts are written."""

    def __init__(self) -> None:
        super().__init__()
        self.mean = tf.Variable(tf.ones([3]))
        self.rows = tf.Variable(tf.zeros([4, 3]))
        self.count = tf.Variable(0)

    @tf.function
    def update(self, x: Any) -> Any:
        self.mean.assign(0.5 * self.mean + 0.5 * x)
        return self.mean.read_value()

    @tf.function(input_signature=[tf.TensorSpec([3], tf.float32)])
    def __call__(self, x: Any) -> Any:
        first = self.mean + 0.0
        result = self.update(x)
        result = result + self.update(2.0 * x)
        index = self.count % 4
        self.rows.scatter_update(tf.IndexedSlices(result, index))
        self.rows.scatter_nd_add([[0, 1], [2, 2]], x[:2])
        self.rows[1:2, 0].assign(x[:1])
        self.rows.scatter_max(tf.IndexedSlices([x, x], [3, 2]))
        self.count.assign_add(1)
        self.mean.assign_sub(x)
        return {"first": first, "mean": self.mean, "rows": self.rows, "gathered": tf.gather(self.rows, [1, index])}


class Branches(tf.Module):
    """Variables that are written in branches and loops."""

    def __init__(self) -> None:
        super().__init__()
        self.total = tf.Variable(0.0)
        self.steps = tf.Variable(1)

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def __call__(self, x: Any) -> Any:
        if x > 0.0:
            self.total.assign_add(x)
        else:
            self.steps.assign_add(1)
        for _ in tf.range(self.steps):
            self.total.assign(self.total * 0.5 + x)
            if self.total > 1.0:
                self.steps.assign_add(2)
                self.steps.assign(self.steps % 5)
        return {"total": self.total, "steps": self.steps}


class Overwritten(tf.Module):
    """A variable that is written before it is read, so that it has no state."""

    def __init__(self) -> None:
        super().__init__()
        self.scratch = tf.Variable(tf.zeros([2]))
        self.unread = tf.Variable(0)

    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
    def __call__(self, x: Any) -> Any:
        self.scratch.assign(x * 2.0)
        self.unread.assign_add(1)
        self.scratch.assign_add([1.0, 2.0])
        return {"y": self.scratch * x}


class Types(tf.Module):
    """Variables of several element types, and one whose size changes."""

    def __init__(self) -> None:
        super().__init__()
        self.variables_of_types = [tf.Variable(tf.ones([2], dtype)) for dtype in (tf.int32, tf.float64, tf.float16, tf.int8, tf.uint8)]
        self.flag = tf.Variable(False)
        self.growing = tf.Variable(tf.zeros([0]), shape=[None])

    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
    def __call__(self, x: Any) -> Any:
        for variable in self.variables_of_types:
            variable.assign_add(tf.cast(tf.abs(x), variable.dtype))
        self.flag.assign(tf.logical_not(self.flag))
        self.growing.assign(tf.concat([self.growing, x], 0))
        return {"flag": self.flag, "growing": self.growing + 0.0, **{f"v{i}": v + 0 for i, v in enumerate(self.variables_of_types)}}


@pytest.mark.parametrize(
    ("module", "shape", "states"),
    [(Counter, [2], 1), (Mean, [3], 3), (Branches, [], 2), (Overwritten, [2], 0), (Types, [2], 7)],
)
def test_modules(tmp_path: Path, module: Callable[[], tf.Module], shape: Sequence[int], states: int) -> None:
    model = module()
    tf.saved_model.save(model, tmp_path / "model", signatures=model.__call__)
    function = tf.saved_model.load(tmp_path / "model").signatures["serving_default"]
    inputs = [{"x": numbers(shape, seed)} for seed in range(RUNS)]
    check_runs(tmp_path, inputs, lambda x: function(tf.constant(x)), states)


def check_runs(folder: Path, inputs: Sequence[Mapping[str, Array]], function: Callable[..., Any], states: int) -> None:
    """Convert the SavedModel `model` of a folder, and compare consecutive results by the names of the outputs."""
    expected = [function(**each) for each in inputs]
    module = convert_model(folder / "model")
    save_model(module, folder / "model.xml")
    assert stateful_kinds(folder / "model.xml") == states
    [model] = models_of(module)
    notes = value_of(model.attributes[ModuleLevel.NOTES]) if ModuleLevel.NOTES in model.attributes else []
    assert any("has a state" in note for note in notes) == bool(states)
    names = [next(iter(expected[0].keys() & output.get_names())) for output in core().read_model(folder / "model.xml").outputs]
    wanted = [[np.asarray(each[name]) for name in names] for each in expected]
    for actual, reference in zip(infer_in_a_row(folder / "model.xml", inputs), [*wanted, *wanted], strict=True):
        compare(actual, reference, 1e-4, 1e-5)


def stateful_recurrent_model(layer: Callable[..., Any]) -> Any:
    """A Keras model with a recurrent layer that goes on where the call before ended, and a batch normalization."""
    inputs = tf.keras.Input(batch_shape=(2, 3, 4))
    result = layer(5, stateful=True, return_sequences=True)(inputs)
    result = tf.keras.layers.BatchNormalization()(result)
    return tf.keras.Model(inputs, layer(3, stateful=True)(result))


@pytest.mark.parametrize(("layer", "states"), [("LSTM", 4), ("GRU", 2), ("SimpleRNN", 2)])
def test_stateful_recurrent_layers(tmp_path: Path, layer: str, states: int) -> None:
    tf.keras.utils.set_random_seed(1)
    model = stateful_recurrent_model(getattr(tf.keras.layers, layer))
    model.export(tmp_path / "model", verbose=False)
    function = tf.saved_model.load(tmp_path / "model").signatures["serving_default"]
    [name] = function.structured_input_signature[1]
    inputs = [{name: numbers([2, 3, 4], seed) / 3} for seed in range(RUNS)]
    check_runs(tmp_path, inputs, lambda **given: function(**{key: tf.constant(value) for key, value in given.items()}), states)


# TensorFlow 1


def counted(x: Any) -> Any:
    """A counter whose value is read after each of two steps."""
    counter = V1.get_variable("counter", [], tf.float32, V1.zeros_initializer(), use_resource=False)
    first = V1.assign_add(counter, 1.0)
    with tf.control_dependencies([first]):
        between = counter.read_value() * x
    with tf.control_dependencies([between]):
        second = V1.assign_sub(counter, 3.0)
    with tf.control_dependencies([second]):
        return between, counter.read_value() + x


def averaged(x: Any) -> Any:
    """A moving average and rows that are written, by references."""
    mean = V1.get_variable("mean", [3], tf.float32, V1.ones_initializer(), use_resource=False)
    rows = V1.get_variable("rows", [4, 3], tf.float32, V1.zeros_initializer(), use_resource=False)
    mean = V1.assign(mean, mean * 0.5 + x)
    written = V1.scatter_add(rows, [1, 3], [mean, x])
    with tf.control_dependencies([written]):
        written = V1.scatter_nd_update(rows, [[0, 1]], [5.0])
    return mean * 2.0, tf.gather(written, [0, 1, 3])


def resources(x: Any) -> Any:
    """Resource variables in a graph of TensorFlow 1, one of which has a constant value where it is read."""
    variable = V1.get_variable("resource", [3], tf.float32, V1.ones_initializer(), use_resource=True)
    fixed = V1.get_variable("fixed", [3], tf.float32, V1.ones_initializer(), use_resource=True)
    with tf.control_dependencies([variable.assign(variable.read_value() + x), fixed.assign([1.0, 2.0, 3.0])]):
        return variable.read_value() * fixed.read_value()


def save_v1(folder: Path, function: Callable[[Any], Any], shape: Sequence[int]) -> Callable[..., Any]:
    """Save a function as a SavedModel of TensorFlow 1, and return it as it runs after loading."""
    with tf.Graph().as_default(), V1.Session() as session:
        x = V1.placeholder(tf.float32, shape, "x")
        results = {f"out_{index}": result for index, result in enumerate(tf.nest.flatten(function(x)))}
        session.run(V1.global_variables_initializer())
        V1.saved_model.simple_save(session, str(folder / "model"), {"x": x}, results)
    session = V1.Session(graph=tf.Graph())
    with session.graph.as_default():
        loaded = V1.saved_model.load(session, ["serve"], str(folder / "model"))
    fetched = {name: info.name for name, info in loaded.signature_def["serving_default"].outputs.items()}
    [fed] = [info.name for info in loaded.signature_def["serving_default"].inputs.values()]
    return lambda x: session.run(fetched, {fed: x})


@pytest.mark.parametrize(("function", "shape", "states"), [(counted, [], 1), (averaged, [3], 2), (resources, [3], 1)])
def test_graphs_of_version_1(tmp_path: Path, function: Callable[[Any], Any], shape: Sequence[int], states: int) -> None:
    run_loaded = save_v1(tmp_path, function, shape)
    check_runs(tmp_path, [{"x": numbers(shape, seed)} for seed in range(RUNS)], run_loaded, states)


def unordered(x: Any) -> Any:
    """Nothing says whether the variable is read before or after it is written."""
    variable = V1.get_variable("v", [], tf.float32, V1.ones_initializer(), use_resource=True)
    return variable.read_value() * x, variable.assign_add(1.0).op.outputs or [variable.assign(x)]


def unordered_references(x: Any) -> Any:
    """The same with a variable by reference: the output is the variable's own memory."""
    variable = V1.get_variable("v", [], tf.float32, V1.ones_initializer(), use_resource=False)
    first = V1.assign_add(variable, x)
    with tf.control_dependencies([first]):
        second = V1.assign_add(variable, 1.0)
    return first, second


def in_a_condition(x: Any) -> Any:
    """A write within a condition of TensorFlow 1."""
    variable = V1.get_variable("v", [], tf.float32, V1.ones_initializer(), use_resource=True)
    V1.disable_control_flow_v2()
    try:
        branch = V1.cond(x > 0.0, lambda: variable.assign_add(x).read_value(), lambda: x)
    finally:
        V1.enable_control_flow_v2()
    with tf.control_dependencies([branch]):
        return variable.read_value() + branch


def counted_up(x: Any) -> Any:
    """A write that cannot be expressed."""
    variable = V1.get_variable("v", [], tf.int32, V1.zeros_initializer(), use_resource=False)
    return tf.cast(V1.count_up_to(variable, 5), tf.float32) * x


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (unordered, "it changes variable 'v', and the graph does not determine whether before or after '.*' uses it; order them by"),
        (unordered_references, "it changes variable 'v', and the graph does not determine whether before or after"),
        (in_a_condition, "it changes variable 'v', which the outputs read, within a condition or a loop of TensorFlow 1"),
        (counted_up, "it changes variable 'v', which the outputs read, in a way that cannot be expressed"),
    ],
)
def test_what_is_refused(tmp_path: Path, function: Callable[[Any], Any], reason: str) -> None:
    save_v1(tmp_path, function, [])
    with pytest.raises(ModelFileError, match=reason):
        convert_model(tmp_path / "model")


class Table(tf.Module):
    """A table that is filled when the model is saved, or never, or by the model itself."""

    def __init__(self, entries: int, inserts: bool) -> None:
        super().__init__()
        self.table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, -1.0)
        self.inserts = inserts
        if entries:
            self.table.insert(tf.range(entries, dtype=tf.int64), tf.range(entries, dtype=tf.float32) * 2.0)

    @tf.function(input_signature=[tf.TensorSpec([3], tf.int64)])
    def __call__(self, x: Any) -> Any:
        if self.inserts:
            self.table.insert(x, tf.zeros([3]))
        return {"y": self.table.lookup(x), "size": self.table.size()}


@pytest.mark.parametrize("entries", [0, 3])
def test_tables(tmp_path: Path, entries: int) -> None:
    model = Table(entries, False)
    tf.saved_model.save(model, tmp_path / "model", signatures=model.__call__)
    function = tf.saved_model.load(tmp_path / "model").signatures["serving_default"]
    check_runs(tmp_path, [{"x": np.array([2, 5, 0])}], lambda x: function(tf.constant(x)), 0)


def test_tables_that_are_written_are_refused(tmp_path: Path) -> None:
    model = Table(2, True)
    tf.saved_model.save(model, tmp_path / "model", signatures=model.__call__)
    with pytest.raises(ModelFileError, match=r"it changes table '.*', which the outputs read, in a way that cannot be expressed"):
        convert_model(tmp_path / "model")
