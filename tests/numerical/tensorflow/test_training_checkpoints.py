"""Checkpoints of TensorFlow 1's training scripts (`.ckpt.meta`): without options, the predictions are converted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir import convert_model, to_openvino
from tests.numerical.runtime import compare
from tests.numerical.tensorflow.conversion import ordered_results

v1 = tf.compat.v1
random = np.random.default_rng(5)
X = random.standard_normal((3, 6)).astype(np.float32)
Z = random.standard_normal((3, 4)).astype(np.float32)
SEQUENCE = random.standard_normal((2, 5, 3)).astype(np.float32)


def dense(x: Any, units: int, name: str, activation: Callable[[Any], Any] = tf.identity) -> Any:
    with v1.variable_scope(name, reuse=v1.AUTO_REUSE):
        w = v1.get_variable("w", [int(x.shape[-1]), units], initializer=v1.random_normal_initializer(0, 0.5, seed=1))
        return activation(x @ w + v1.get_variable("b", [units], initializer=v1.ones_initializer()))


def classifier(scope: str) -> Any:
    """Labels, the probability of dropout, regularization, summaries, moving averages, an accuracy."""
    x, t = v1.placeholder(tf.float32, [None, 6], "x"), v1.placeholder(tf.int64, [None], "t")
    keep = v1.placeholder_with_default(1.0, [], "keep")
    hidden = v1.nn.dropout(dense(x, 8, "hidden", tf.nn.relu), keep_prob=keep)
    logits = dense(hidden, 3, "logits")
    y = tf.nn.softmax(logits, name="y")
    loss = tf.reduce_mean(v1.nn.sparse_softmax_cross_entropy_with_logits(labels=t, logits=logits))
    loss += 1e-3 * sum(tf.nn.l2_loss(variable) for variable in v1.trainable_variables())
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(y, 1), t), tf.float32))
    v1.summary.scalar("accuracy", accuracy)
    v1.summary.histogram("hidden", hidden)
    variables = v1.trainable_variables()
    with v1.name_scope(scope):
        clipped, norm = tf.clip_by_global_norm(tf.gradients(loss, variables), 5.0)
        v1.summary.scalar("norm", norm)
        step = v1.train.AdamOptimizer().apply_gradients(zip(clipped, variables, strict=True))
        with tf.control_dependencies([step]):
            v1.train.ExponentialMovingAverage(0.9).apply([*variables, loss])
    return {"x": X}, y


def generator() -> Any:
    """Two optimizers: the discriminator only serves the generator."""
    z, real = v1.placeholder(tf.float32, [None, 4], "z"), v1.placeholder(tf.float32, [None, 6], "real")
    fake = dense(dense(z, 8, "g/1", tf.nn.relu), 6, "g/2", tf.tanh)
    scores = [dense(dense(each, 8, "d/1", tf.nn.relu), 1, "d/2") for each in (real, fake)]
    losses = [tf.reduce_mean(tf.nn.softplus(-scores[0]) + tf.nn.softplus(scores[1])), tf.reduce_mean(tf.nn.softplus(-scores[1]))]
    for name, loss in zip("dg", losses, strict=True):
        variables = [each for each in v1.trainable_variables() if each.name.startswith(name)]
        v1.train.AdamOptimizer().minimize(loss, var_list=variables)
    return {"z": Z}, fake


def recurrent() -> Any:
    """A loop, whose gradient needs the values of all steps."""
    x, t = v1.placeholder(tf.float32, [2, 5, 3], "x"), v1.placeholder(tf.float32, [2, 5, 4], "t")
    w = v1.get_variable("w", [7, 4], initializer=v1.random_normal_initializer(0, 0.5, seed=1))
    steps = tf.TensorArray(tf.float32, 5).unstack(tf.transpose(x, [1, 0, 2]))

    def body(i: Any, h: Any, states: Any) -> Any:
        h = tf.tanh(tf.concat([steps.read(i), h], 1) @ w)
        return i + 1, h, states.write(i, h)

    _, _, states = v1.while_loop(lambda i, *_: i < 5, body, [0, tf.zeros([2, 4]), tf.TensorArray(tf.float32, 5)])
    y = tf.transpose(states.stack(), [1, 0, 2])
    v1.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(tf.abs(y - t)))
    return {"x": SEQUENCE}, y


MODELS: dict[str, Callable[[], Any]] = {
    "classifier": lambda: classifier("train"),
    "classifier in scopes": lambda: classifier("training/Adam"),
    "generator": generator,
    "recurrent": recurrent,
}


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("name", MODELS)
def test_predictions(name: str, version: int, tmp_path: Path) -> None:
    switches = (v1.enable_control_flow_v2, v1.enable_resource_variables), (v1.disable_control_flow_v2, v1.disable_resource_variables)
    for switch in switches[version == 1]:
        switch()
    try:
        with tf.Graph().as_default(), v1.Session() as session:
            inputs, y = MODELS[name]()
            session.run(v1.global_variables_initializer())
            v1.train.Saver().save(session, str(tmp_path / "model.ckpt"))
            expected = session.run(y, {f"{each}:0": array for each, array in inputs.items()})
    finally:
        for switch in switches[0]:
            switch()
    compiled = to_openvino(convert_model(tmp_path / "model.ckpt.meta"))
    assert len(compiled.outputs) == 1
    assert {each for port in compiled.inputs for each in port.names} & {"t", "real"} == set()
    compare(
        ordered_results(compiled, [next(iter(compiled.outputs[0].names))], {each.split(":")[0]: array for each, array in inputs.items()}),
        [expected],
        1e-4,
        1e-5,
    )
