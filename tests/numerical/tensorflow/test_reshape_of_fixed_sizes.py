"""Graphs whose inputs have fixed sizes, and that compute with these sizes, are reshaped in the runtime, too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openvino
import pytest
import tensorflow as tf

import moir
from tests.numerical.runtime import core

FIXED, OTHER = (2, 10, 12, 3), (3, 20, 8, 3)
raw = tf.raw_ops


def amounts(x: Any) -> Any:
    """Amounts of padding up to a multiple of seven rows."""
    rows = raw.Shape(input=x)[1]
    return tf.stack([[0, 0], [0, tf.math.floormod(7 - tf.math.floormod(rows, 7), 7)], [0, 0], [0, 0]])


def sizes(x: Any) -> Any:
    """The shape of x, which TensorFlow does not compute itself."""
    return raw.Shape(input=x)


GRAPHS: dict[str, Callable[[Any], Any]] = {
    "pad": lambda x: raw.Pad(input=x, paddings=amounts(x)),
    "mirror": lambda x: raw.MirrorPad(input=x, paddings=amounts(x), mode="REFLECT"),
    "resize": lambda x: raw.ResizeBilinear(images=tf.nn.max_pool2d(x, 2, 2, "SAME"), size=sizes(x)[1:3], half_pixel_centers=True),
    "tile": lambda x: raw.Tile(input=x, multiples=tf.stack([1, sizes(x)[1] // 7, 1, 1])),
    "fill": lambda x: x + raw.Fill(dims=sizes(x), value=1.5),
    "slice": lambda x: raw.Slice(input=x, begin=[0, 0, 0, 0], size=tf.stack([-1, sizes(x)[1] // 2, -1, -1])),
    "computed-end": lambda x: x[:, : sizes(x)[1] // 2],
    "ends": lambda x: x[:, :-3, 1:],
    "roll": lambda x: tf.concat([x[:, -3:], x[:, :-3]], 1),
    "backwards": lambda x: x[:, ::-1, -2::-2],
    "windows": lambda x: tf.reshape(x, tf.stack([sizes(x)[0], sizes(x)[1] // 2, 2, sizes(x)[2], 3])),
    "split": lambda x: raw.SplitV(value=x, size_splits=tf.stack([3, sizes(x)[1] - 3]), axis=1, num_split=2)[1],
    "reversed-places": lambda x: tf.gather(x, tf.range(sizes(x)[1])[::-1], axis=1),
}


def graph_of(function: Callable[[Any], Any], shape: tuple[int, ...]) -> Any:
    """The graph of a function of one input of a fixed shape."""
    with tf.Graph().as_default() as graph:
        tf.identity(function(tf.compat.v1.placeholder(tf.float32, shape, name="x")), name="y")
    return graph


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_of_fixed_sizes_computes_the_same_for_others(name: str, tmp_path: Path) -> None:
    (tmp_path / "fixed.pb").write_bytes(graph_of(GRAPHS[name], FIXED).as_graph_def().SerializeToString())
    moir.save_model(moir.convert_model(tmp_path / "fixed.pb"), tmp_path / "fixed.xml")
    x = np.random.default_rng(0).standard_normal(OTHER).astype(np.float32)
    with tf.compat.v1.Session(graph=graph_of(GRAPHS[name], OTHER)) as session:
        expected = session.run("y:0", {"x:0": x})
    model = core().read_model(tmp_path / "fixed.xml")
    model.reshape(openvino.PartialShape(list(OTHER)))
    actual = core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(x)[0]
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)
