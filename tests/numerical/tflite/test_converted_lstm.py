"""LSTMs that TensorFlow's converter makes UNIDIRECTIONAL_SEQUENCE_LSTM of, in each form of weights and activations.

The converter knows a function that declares itself as the LSTM of Keras 2, whatever it computes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moir
from tests.numerical.runtime import IN_FLOATS, core
from tests.numerical.tflite.models import converted, kinds, runner_of

tf: Any = pytest.importorskip("tensorflow")

RANDOM = np.random.default_rng(17)
N, T, WIDTH, H = 2, 5, 24, 20
KERNEL, RECURRENT, BIAS = (
    RANDOM.normal(size=shape).astype(np.float32) * np.float32(0.3) for shape in ((WIDTH, 4 * H), (H, 4 * H), (4 * H,))
)
DECLARED = {"api_implements": "lstm_of_keras", "api_preferred_device": "CPU", "go_backwards": False}


def lstm(x: Any, h: Any, c: Any, kernel: Any, recurrent: Any, bias: Any) -> tuple[Any, ...]:
    """Gates in the order input, forget, cell, output; the last output, all outputs, both states, and a number."""
    outputs: list[Any] = []
    for step in range(T):
        enter, forget, candidate, leave = tf.split(x[:, step] @ kernel + h @ recurrent + bias, 4, 1)
        c = tf.sigmoid(forget) * c + tf.sigmoid(enter) * tf.tanh(candidate)
        h = tf.sigmoid(leave) * tf.tanh(c)
        outputs.append(h)
    return h, tf.stack(outputs, 1), h, c, tf.constant(1.0)


def network(x: Any) -> dict[str, Any]:
    declared = tf.function(lstm, autograph=False, experimental_attributes={**DECLARED, "time_major": False})
    zeros = tf.zeros([N, H])
    return {"y": declared(x, zeros, zeros, KERNEL, RECURRENT, BIAS)[1]}


OPTIMIZED = {"optimizations": [tf.lite.Optimize.DEFAULT]}
FORMS: dict[str, tuple[dict[str, Any], float]] = {
    "floats": ({}, 1e-5),
    "weights of 8 bits": (OPTIMIZED, 0.02),
    "integers of 8 bits": ({**OPTIMIZED, "target_spec": tf.lite.TargetSpec(supported_ops=[tf.lite.OpsSet.TFLITE_BUILTINS_INT8])}, 0.02),
}
"""Options of the converter, and the part of the largest output by which results may differ."""


@pytest.mark.parametrize("form", FORMS)
def test_lstm_over_two_inferences(tmp_path: Path, form: str) -> None:
    options, tolerance = FORMS[form]
    x = RANDOM.normal(size=(N, T, WIDTH)).astype(np.float32)
    samples = [{"x": x * factor} for factor in (1, np.float32(0.7))] if "target_spec" in options else []
    model = converted(network, {"x": x}, samples=samples, **options)
    path = tmp_path / "m.tflite"
    path.write_bytes(model)
    assert "UNIDIRECTIONAL_SEQUENCE_LSTM" in kinds(path)
    moir.save_model(moir.convert_model(path), tmp_path / "m.xml")
    request = core().compile_model(tmp_path / "m.xml", "CPU", dict(IN_FLOATS)).create_infer_request()
    runner = runner_of(model)
    for _ in range(2):
        wanted, actual = runner(x=x)["y"], request.infer({0: x})[0]
        assert np.abs(wanted - actual).max() <= tolerance * np.abs(wanted).max()
