"""Quantized convolutional networks have the integers of the interpreter's default kernels, XNNPACK's.

Data are integers, so that no number of the input lies between two of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moir
from tests.numerical.runtime import IN_FLOATS, core
from tests.numerical.tflite.models import converted

tf: Any = pytest.importorskip("tensorflow")

RANDOM = np.random.default_rng(23)


def normal(*shape: int) -> Any:
    return (RANDOM.normal(size=shape) * np.sqrt(2 / np.prod(shape[:-1]))).astype(np.float32)


def keyword_spotter(x: Any) -> Any:
    """A convolution, depthwise separable ones, an average and a product."""
    x = tf.nn.relu(tf.nn.conv2d(x, normal(10, 4, 3, 32), 2, "SAME") + normal(32))
    for _ in range(3):
        x = tf.nn.relu(tf.nn.depthwise_conv2d(x, normal(3, 3, 32, 1) * 3, [1, 1, 1, 1], "SAME") + normal(32))
        x = tf.nn.relu(tf.nn.conv2d(x, normal(1, 1, 32, 32), 1, "SAME") + normal(32))
    return tf.matmul(tf.reduce_mean(x, [1, 2]), normal(32, 12)) + normal(12)


def residual_network(x: Any) -> Any:
    """Sums of a convolution and its data, which the runtime computes within the convolution."""
    x = tf.nn.relu6(tf.nn.conv2d(x, normal(3, 3, 3, 16), 2, "SAME") + normal(16))
    for _ in range(3):
        y = tf.nn.relu6(tf.nn.conv2d(x, normal(1, 1, 16, 32), 1, "SAME") + normal(32))
        y = tf.nn.relu6(tf.nn.depthwise_conv2d(y, normal(3, 3, 32, 1) * 3, [1, 1, 1, 1], "SAME") + normal(32))
        x = x + tf.nn.conv2d(y, normal(1, 1, 32, 16), 1, "SAME") + normal(16)
    return tf.nn.avg_pool2d(x, 2, 2, "VALID")


def segmentation(x: Any) -> Any:
    """Branches of different sizes that are joined."""
    small = tf.nn.relu(tf.nn.conv2d(x, normal(3, 3, 3, 16), 2, "SAME") + normal(16))
    pooled = tf.nn.max_pool2d(small, 2, 2, "SAME")
    deep = tf.nn.relu(tf.nn.conv2d(pooled, normal(3, 3, 16, 24), 1, "SAME", dilations=2) + normal(24))
    wide = tf.compat.v1.image.resize_bilinear(deep, [12, 16], half_pixel_centers=True)
    y = tf.concat([small, wide], 3)
    return tf.nn.conv2d(y, normal(1, 1, 40, 5), 1, "SAME") + normal(5)


NETWORKS = {"keyword spotter": keyword_spotter, "residual network": residual_network, "segmentation": segmentation}


@pytest.mark.parametrize("name", NETWORKS)
def test_integers_equal_those_of_the_default_kernels(tmp_path: Path, name: str) -> None:
    x = RANDOM.normal(size=(1, 24, 32, 3)).astype(np.float32)
    model = converted(
        lambda x: {"y": NETWORKS[name](x)},
        {"x": x},
        samples=[{"x": x * factor} for factor in (1, np.float32(0.7))],
        optimizations=[tf.lite.Optimize.DEFAULT],
        target_spec=tf.lite.TargetSpec(supported_ops=[tf.lite.OpsSet.TFLITE_BUILTINS_INT8]),
        inference_input_type=tf.int8,
        inference_output_type=tf.int8,
    )
    (tmp_path / "m.tflite").write_bytes(model)
    moir.save_model(moir.convert_model(tmp_path / "m.tflite"), tmp_path / "m.xml")
    request = core().compile_model(tmp_path / "m.xml", "CPU", dict(IN_FLOATS)).create_infer_request()
    runner = tf.lite.Interpreter(model_content=model).get_signature_runner()
    equal: list[float] = []
    for seed in range(4):
        data = np.random.default_rng(seed).integers(-128, 128, x.shape).astype(np.int8)
        expected, actual = runner(x=data)["y"], request.infer([data])[0]
        assert np.abs(expected.astype(np.int32) - actual).max() <= 3
        equal.append(float(np.mean(expected == actual)))
    assert np.mean(equal) >= 0.9
