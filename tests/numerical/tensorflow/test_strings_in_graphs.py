"""A user's graph moves strings about before its lookup, as any other data, and the IR loads and has them in place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.dialects.moir import ModuleLevel, models_of
from moir.dialects.properties import value_of
from moir.interface import convert_model
from tests.numerical.tensorflow.conversion import build, check

LIST = np.array(["a,b,c", "x", "  日本 q "], object)
TABLE = np.array([["a", "bb", ""], ["x", "yy", "zé"]], object)

MOVEMENTS: dict[str, Callable[[Any], Any]] = {
    "transposed": lambda x: tf.transpose(x),
    "stacked": lambda x: tf.stack([x, x], 1),
    "joined": lambda x: [tf.concat([x, x[:, :1]], 1), tf.concat([x, x[:1]], 0)],
    "tiled": lambda x: tf.tile(x, [2, 1]),
    "broadcast": lambda x: tf.broadcast_to(x[:1], [4, 3]),
    "sliced": lambda x: [x[:, ::2], x[::-1], x[1]],
    "split": lambda x: tf.split(x, 3, axis=1),
    "split unevenly": lambda x: tf.split(x, [1, 2], axis=1),
    "gathered": lambda x: [tf.gather_nd(x, [[1, 2], [0, 0]]), tf.gather(x, [[2, 0], [1, 1]], axis=1, batch_dims=1)],
    "rolled": lambda x: tf.roll(x, 1, 1),
    "updated": lambda x: tf.tensor_scatter_nd_update(x, [[0, 1]], ["new"]),
    "selected": lambda x: tf.where(tf.strings.length(x) > 1, x, "short"),
}


@pytest.mark.parametrize("name", MOVEMENTS)
def test_moved(name: str) -> None:
    check(MOVEMENTS[name], {"x": TABLE}, forms=("static", "dynamic"))


def test_ragged_parts() -> None:
    check(lambda x: tf.strings.split(x, ",").to_tensor("-"), {"x": LIST}, forms=("static", "dynamic"))


def test_distinct_strings() -> None:
    check(lambda x: tf.unique_with_counts(tf.concat([x, ["x", "y"], x], 0)), {"x": LIST}, forms=("static", "dynamic"))


def test_strings_of_a_loop(tmp_path: Path) -> None:
    """The runtime has no strings there, and a note says so."""

    def repeated(x: Any) -> Any:
        return tf.while_loop(lambda i, _: i < 3, lambda i, each: (i + 1, tf.strings.join([each, x])), [0, x])[1]

    graph, _ = build(repeated, {"x": LIST}, form="dynamic")
    (tmp_path / "m.pb").write_bytes(graph.as_graph_def().SerializeToString())
    [model] = models_of(convert_model(tmp_path / "m.pb"))
    assert any("will not load because of opset5.Loop" in note for note in value_of(model.attributes[ModuleLevel.NOTES]))
