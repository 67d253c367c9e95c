"""Random numbers of TensorFlow: the same ones for uniform distributions with seeds, distributions elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.conversion import save_model
from moir.errors import ConversionError
from moir.interface import convert_model
from tests.numerical.runtime import core, run
from tests.numerical.tensorflow.conversion import build, check

SHAPE = np.array([40, 50], np.int32)
ANY = {"x": np.zeros((40, 50), np.float32)}


def drawn(function: Callable[..., Any], directory: Path, inputs: dict[str, np.ndarray] | None = None, times: int = 1) -> list[np.ndarray]:
    """Results of a function of x, converted, in each of some runs."""
    inputs = ANY if inputs is None else inputs
    graph, _ = build(function, inputs)
    source = directory / "model.pb"
    source.write_bytes(with_former_kinds(graph).SerializeToString())
    save_model(convert_model(source), directory / "model.xml")
    model = core().read_model(directory / "model.xml")
    names = {parameter.get_node().get_friendly_name() for parameter in model.inputs}
    return [run(model, {name: array for name, array in inputs.items() if name in names})[0] for _ in range(times)]


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.float16])
def test_uniform_numbers_are_the_same(dtype: tf.DType, tmp_path: Path) -> None:
    def function(x: tf.Tensor) -> tf.Tensor:
        return tf.cast(x, dtype) + tf.raw_ops.RandomUniform(shape=SHAPE, dtype=dtype, seed=11, seed2=5)

    if dtype == tf.float32:
        check(function, ANY, operations=2)
    (numbers,) = drawn(function, tmp_path)
    assert numbers.dtype == dtype.as_numpy_dtype
    assert numbers.min() >= 0
    assert numbers.max() < 1.001
    assert abs(numbers.astype(np.float64).mean() - 0.5) < 0.03


def test_numbers_that_are_subtracted_are_drawn_in_every_run(tmp_path: Path) -> None:
    """The runtime replaces a subtrahend that needs no input by a constant."""
    graph, _ = build(lambda x: x - tf.raw_ops.RandomUniform(shape=SHAPE, dtype=tf.float32), ANY)
    (tmp_path / "model.pb").write_bytes(graph.as_graph_def().SerializeToString())
    save_model(convert_model(tmp_path / "model.pb"), tmp_path / "model.xml")
    network = core().compile_model(tmp_path / "model.xml", "CPU")
    first, second = (network(ANY)[0].copy() for _ in range(2))
    assert abs(first.mean() + 0.5) < 0.03
    assert abs(np.corrcoef(first.ravel(), second.ravel())[0, 1]) < 0.1


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_integers(dtype: type, tmp_path: Path) -> None:
    low, high = np.array(-3, dtype), np.array(90, dtype)

    def function(x: tf.Tensor) -> tf.Tensor:
        return tf.cast(x, dtype) + tf.raw_ops.RandomUniformInt(shape=SHAPE, minval=low, maxval=high, seed=11, seed2=5)

    # The runtime computes with 32 bits: only those numbers are the same.
    if dtype is np.int32:
        check(function, ANY, forms=("static", "rank"))
    (numbers,) = drawn(function, tmp_path)
    assert numbers.min() == -3
    assert numbers.max() == 89
    assert abs(numbers.mean() - 43) < 3


def test_seeds(tmp_path: Path) -> None:
    first, second = drawn(lambda x: x + tf.raw_ops.RandomUniform(shape=SHAPE, dtype=tf.float32), tmp_path, times=2)
    assert not np.array_equal(first, second)
    same = drawn(lambda x: x + tf.random.stateless_normal(SHAPE, [0, 0]), tmp_path, times=2)
    np.testing.assert_array_equal(*same)


DISTRIBUTIONS: dict[str, tuple[Callable[..., Any], float, float, float]] = {
    "RandomStandardNormal": (lambda: tf.raw_ops.RandomStandardNormal(shape=SHAPE, dtype=tf.float32, seed=3), 0, 1, 6),
    "TruncatedNormal": (lambda: tf.raw_ops.TruncatedNormal(shape=SHAPE, dtype=tf.float32, seed=3), 0, 0.88, 2.01),
    "StatelessRandomNormal": (lambda: tf.raw_ops.StatelessRandomNormal(shape=SHAPE, seed=[1, 2]), 0, 1, 6),
    "StatelessTruncatedNormal": (lambda: tf.raw_ops.StatelessTruncatedNormal(shape=SHAPE, seed=[1, 2]), 0, 0.88, 2.01),
    "StatelessRandomUniform": (lambda: tf.raw_ops.StatelessRandomUniform(shape=SHAPE, seed=[1, 2]), 0.5, 0.289, 1),
    "StatelessRandomNormalV2": (lambda: tf.random.stateless_normal(SHAPE, [1, 2], mean=3.0), 3, 1, 8),
    "StatelessTruncatedNormalV2": (lambda: tf.random.stateless_truncated_normal(SHAPE, [1, 2]), 0, 0.88, 2.01),
    "StatelessRandomUniformV2": (lambda: tf.random.stateless_uniform(SHAPE, [1, 2], 2, 3), 2.5, 0.289, 3),
    "StatelessRandomUniformIntV2": (
        lambda: tf.cast(tf.random.stateless_uniform(SHAPE, [1, 2], 0, 101, tf.int32), tf.float32),
        50,
        29.15,
        100,
    ),
    "StatelessRandomUniformInt": (
        lambda: tf.cast(tf.raw_ops.StatelessRandomUniformInt(shape=SHAPE, seed=[1, 2], minval=0, maxval=101), tf.float32),
        50,
        29.15,
        100,
    ),
    "ParameterizedTruncatedNormal": (
        lambda: tf.raw_ops.ParameterizedTruncatedNormal(shape=SHAPE, means=1.0, stdevs=2.0, minvals=-3.0, maxvals=5.0, seed=3),
        1,
        1.76,
        5,
    ),
}


SPREAD = 2**32 / 12**0.5
"""The deviation of all integers of 32 bits."""

# function of x, mean, deviation, smallest and largest number
FURTHER: dict[str, tuple[Callable[..., Any], float, float, float, float]] = {
    "StatelessParameterizedTruncatedNormal": (
        lambda: tf.random.stateless_parameterized_truncated_normal(SHAPE, [1, 2], [1.0], 2.0, -3.0, 5.0), 1, 1.76, -3, 5,
    ),
    "RandomGamma": (lambda: tf.raw_ops.RandomGamma(shape=SHAPE, alpha=3.0, seed=3), 3, 1.73, 0, 30),
    "RandomGamma small": (lambda: tf.raw_ops.RandomGamma(shape=SHAPE, alpha=0.5, seed=3), 0.5, 0.707, 0, 20),
    "RandomGamma of a list": (lambda: tf.raw_ops.RandomGamma(shape=SHAPE[:1], alpha=[9.0] * 50), 9, 3, 0, 60),
    "StatelessRandomGammaV2": (lambda: tf.raw_ops.StatelessRandomGammaV2(shape=SHAPE, seed=[1, 2], alpha=[2.0] * 50), 2, 1.41, 0, 30),
    "StatelessRandomGammaV3": (lambda: keyed("StatelessRandomGammaV3", alpha=2.0), 2, 1.41, 0, 30),
    "RandomPoisson": (lambda: former("RandomPoisson", tf.raw_ops.RandomPoissonV2(shape=SHAPE, rate=3.0, dtype=tf.float32)), 3, 1.73, 0, 20),
    "RandomPoissonV2": (lambda: tf.raw_ops.RandomPoissonV2(shape=SHAPE[:1], rate=[100.0] * 50, dtype=tf.float32), 100, 10, 40, 170),
    "StatelessRandomPoisson": (lambda: tf.random.stateless_poisson(SHAPE, [1, 2], 0.7, tf.float32), 0.7, 0.837, 0, 12),
    "StatefulUniform": (lambda: stateful("StatefulUniform"), 0.5, 0.289, 0, 1),
    "StatefulStandardNormal": (lambda: stateful("StatefulStandardNormal"), 0, 1, -6, 6),
    "StatefulStandardNormalV2": (lambda: stateful("StatefulStandardNormalV2"), 0, 1, -6, 6),
    "StatefulTruncatedNormal": (lambda: stateful("StatefulTruncatedNormal"), 0, 0.88, -2.01, 2.01),
    "StatefulUniformInt": (lambda: whole(stateful("StatefulUniformInt", minval=0, maxval=101)), 50, 29.15, 0, 100),
    "StatefulUniformFullInt": (lambda: whole(stateful("StatefulUniformFullInt", dtype=tf.int32)), 0, SPREAD, -(2**31), 2**31),
    "StatelessRandomUniformFullInt": (
        lambda: whole(tf.raw_ops.StatelessRandomUniformFullInt(shape=SHAPE, seed=[1, 2], dtype=tf.int32)), 0, SPREAD, -(2**31), 2**31,
    ),
    "StatelessRandomUniformFullIntV2": (
        lambda: whole(keyed("StatelessRandomUniformFullIntV2", dtype=tf.int32)), 0, SPREAD, -(2**31), 2**31,
    ),
    "NonDeterministicInts": (lambda: whole(tf.raw_ops.NonDeterministicInts(shape=SHAPE, dtype=tf.int32)), 0, SPREAD, -(2**31), 2**31),
}  # fmt: skip


def whole(numbers: tf.Tensor) -> tf.Tensor:
    return tf.cast(numbers, tf.float32)


def stateful(kind: str, **attributes: Any) -> tf.Tensor:
    """Numbers of a generator whose state is a variable; in a frozen graph that is a constant."""
    state = tf.raw_ops.VarHandleOp(dtype=tf.int64, shape=[3], name="state")
    newer = "StatefulStandardNormalV2" if kind == "StatefulStandardNormal" else kind
    return former(kind, getattr(tf.raw_ops, newer)(resource=state, algorithm=np.int64(1), shape=SHAPE, **attributes))


FORMER: dict[str, str] = {}
"""The nodes of the graph that is being built whose kind is one that TensorFlow removed."""


def former(kind: str, result: tf.Tensor) -> tf.Tensor:
    """A result of a node that gets a kind which TensorFlow 2 does not make any more."""
    FORMER[result.op.name] = kind
    return result


def with_former_kinds(graph: tf.Graph) -> tf.compat.v1.GraphDef:
    """The definition of a graph with the kinds that were removed, and without variables."""
    definition = graph.as_graph_def()
    for node in definition.node:
        node.op = FORMER.pop(node.name, node.op)
        if node.op == "StatefulStandardNormal":
            del node.input[1]
        if node.op == "VarHandleOp":
            node.op = "Const"
            node.attr.clear()
            node.attr["dtype"].type = tf.int64.as_datatype_enum
            node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(np.zeros(3, np.int64)))
    return definition


def keyed(kind: str, **attributes: Any) -> tf.Tensor:
    """Numbers of a generator with a key and a counter made of a seed."""
    key, counter = tf.raw_ops.StatelessRandomGetKeyCounter(seed=[1, 2])
    return getattr(tf.raw_ops, kind)(shape=SHAPE, key=key, counter=counter, alg=1, **attributes)


@pytest.mark.parametrize("kind", FURTHER)
def test_further_distributions(kind: str, tmp_path: Path) -> None:
    function, mean, deviation, smallest, largest = FURTHER[kind]
    (numbers,) = drawn(lambda x: x + function(), tmp_path)
    assert numbers.shape == (40, 50)
    assert abs(numbers.mean() - mean) < 0.1 * deviation
    assert abs(numbers.std() - deviation) < 0.1 * deviation
    assert smallest <= numbers.min()
    assert numbers.max() <= largest
    assert len(np.unique(numbers)) > 5


@pytest.mark.parametrize("kind", DISTRIBUTIONS)
def test_distributions(kind: str, tmp_path: Path) -> None:
    function, mean, deviation, largest = DISTRIBUTIONS[kind]
    (numbers,) = drawn(lambda x: x + function(), tmp_path)
    assert numbers.shape == (40, 50)
    assert abs(numbers.mean() - mean) < 0.1 * deviation
    assert abs(numbers.std() - deviation) < 0.06 * deviation
    assert numbers.max() <= largest


def test_parameters_by_row(tmp_path: Path) -> None:
    def function(x: tf.Tensor) -> tf.Tensor:
        means = tf.reduce_sum(x, 1)
        return tf.raw_ops.ParameterizedTruncatedNormal(shape=SHAPE, means=means, stdevs=1.0, minvals=means - 1, maxvals=means + 1)

    x = np.zeros((40, 50), np.float32)
    x[:, 0] = 10 * np.arange(40)
    (numbers,) = drawn(function, tmp_path, {"x": x})
    assert np.all(np.abs(numbers - x[:, :1]) <= 1.001)


@pytest.mark.parametrize("rows", [40, 1])
def test_shuffle(rows: int, tmp_path: Path) -> None:
    x = np.arange(rows * 2, dtype=np.float32).reshape(rows, 2)
    (numbers,) = drawn(lambda x: tf.raw_ops.RandomShuffle(value=x, seed=3), tmp_path, {"x": x})
    np.testing.assert_array_equal(np.sort(numbers, 0), x)
    assert rows == 1 or not np.array_equal(numbers, x)


@pytest.mark.parametrize("element", [tf.int32, tf.int64])
def test_classes(element: tf.DType, tmp_path: Path) -> None:
    x = np.log(np.array([[1, 3, 0, 4], [1, 1, 1, 1]], np.float32) + 1e-9) + 100
    for function in (
        lambda x: tf.raw_ops.Multinomial(logits=x, num_samples=4000, seed=3, output_dtype=element),
        lambda x: tf.raw_ops.StatelessMultinomial(logits=x, num_samples=4000, seed=[1, 2], output_dtype=element),
    ):
        (classes,) = drawn(function, tmp_path, {"x": x})
        assert classes.dtype == element.as_numpy_dtype
        frequencies = [np.bincount(row, minlength=4) / 4000 for row in classes]
        np.testing.assert_allclose(frequencies, [[0.125, 0.375, 0, 0.5], [0.25] * 4], atol=0.03)


def test_computed_seeds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match="seed is computed"):
        drawn(lambda x: tf.random.stateless_uniform([2], tf.cast(x[0], tf.int32)), tmp_path, {"x": np.ones((1, 2), np.float32)})


def test_crop(tmp_path: Path) -> None:
    """A part of 2 rows and 1 column."""
    x = np.arange(40 * 50 * 2, dtype=np.float32).reshape(40, 50, 2)
    parts = drawn(lambda x: former("RandomCrop", tf.raw_ops.Sum(input=x, axis=np.array([2, 1]))), tmp_path, {"x": x}, times=3)
    for part in parts:
        assert part.shape == (2, 1, 2)
        row, column = divmod(int(part[0, 0, 0]) // 2, 50)
        np.testing.assert_array_equal(part, x[row : row + 2, column : column + 1])


def test_stateless_shuffle(tmp_path: Path) -> None:
    def function(x: tf.Tensor) -> tf.Tensor:
        key, counter = tf.raw_ops.StatelessRandomGetKeyCounter(seed=[1, 2])
        return tf.raw_ops.StatelessShuffle(value=x, key=key, counter=counter, alg=1)

    x = np.arange(80, dtype=np.float32).reshape(40, 2)
    (numbers,) = drawn(function, tmp_path, {"x": x})
    np.testing.assert_array_equal(np.sort(numbers, 0), x)
    assert not np.array_equal(numbers, x)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: whole(tf.raw_ops.NonDeterministicInts(shape=[2], dtype=tf.int64)) + x[0, 0], "integers of other types than int32"),
        (lambda x: tf.raw_ops.RandomPoissonV2(shape=[2], rate=x[0, 0], dtype=tf.float32), "rates are computed"),
        (lambda x: whole(tf.random.stateless_binomial([2], [1, 2], 3.0, 0.5)) + x[0, 0], "a search"),
    ],
)
def test_refused_distributions(function: Callable[..., Any], reason: str, tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match=reason):
        drawn(function, tmp_path)
