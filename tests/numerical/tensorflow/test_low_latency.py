"""Recurrent layers of Keras that are given a sequence in pieces, and their states between the inferences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

import moir
from tests.numerical.runtime import core
from tests.numerical.tensorflow.test_recurrent_loops import LAYERS

NAMES = ("LSTM, all states", "LSTM, other activations", "GRU, reset after", "plain", "stacked cells")
X = np.random.default_rng(3).standard_normal((2, 6, 3)).astype(np.float32)


@pytest.mark.parametrize("lowered", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_layers_in_pieces(tmp_path: Path, name: str, lowered: bool) -> None:
    layer = LAYERS[name][0]()
    function = tf.function(lambda x: tf.nest.flatten(layer(x))[0]).get_concrete_function(tf.TensorSpec([None, None, 3], tf.float32, "x"))
    frozen = convert_variables_to_constants_v2(function, lower_control_flow=lowered)
    (tmp_path / "model.pb").write_bytes(frozen.graph.as_graph_def().SerializeToString())
    model = moir.to_openvino(moir.convert_model(tmp_path / "model.pb", low_latency=True))
    request = core().compile_model(model, "CPU").create_infer_request()
    expected = np.asarray(tf.nest.flatten(layer(X))[0])
    for lengths in ([2, 1, 3], [6], [1] * 6):
        pieces = np.split(X, np.cumsum(lengths)[:-1], axis=1)
        results = [request.infer({"x": piece})[0].copy() for piece in pieces]
        np.testing.assert_allclose(np.concatenate(results, axis=1), expected, rtol=1e-4, atol=1e-5)
        assert request.query_state()
        request.reset_state()
