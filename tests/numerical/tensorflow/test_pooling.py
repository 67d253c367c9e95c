"""Pooling of TensorFlow against TensorFlow itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from tests.numerical.runtime import Array
from tests.numerical.tensorflow.conversion import build, check, convert_graph

raw = tf.raw_ops


def normal(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def window(size: int, stride: int, padding: str, axes: int = 2) -> dict[str, Any]:
    return {"ksize": [1, *[size] * axes, 1], "strides": [1, *[stride] * axes, 1], "padding": padding}


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("size", "stride"), [(2, 2), (3, 1), (3, 2), (1, 2)])
def test_pooling(size: int, stride: int, padding: str) -> None:
    attributes = window(size, stride, padding)
    check(lambda x: (raw.AvgPool(value=x, **attributes), raw.MaxPool(input=x, **attributes)), {"x": normal(2, 7, 8, 3) - 3}, operations=5)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_pooling_of_volumes(padding: str) -> None:
    attributes = window(2, 2, padding, 3)
    check(lambda x: (raw.AvgPool3D(input=x, **attributes), raw.MaxPool3D(input=x, **attributes)), {"x": normal(1, 5, 4, 3, 2)})


def test_channel_first_pooling() -> None:
    """TensorFlow has no kernel for it on CPUs."""
    image = normal(1, 3, 6, 5)
    expected = tf.nn.max_pool2d(image.transpose(0, 2, 3, 1), [2, 3], [2, 1], "VALID").numpy().transpose(0, 3, 1, 2)
    check(
        lambda x: raw.MaxPool(input=x, ksize=[1, 1, 2, 3], strides=[1, 1, 2, 1], padding="VALID", data_format="NCHW"),
        {"x": image},
        expected=[expected],
        operations=1,
    )


@pytest.mark.parametrize("kind", ["int32", "uint8", "int64", "float16"])
def test_maxima_of_other_types(kind: str) -> None:
    check(lambda x: raw.MaxPool(input=x, **window(2, 2, "SAME")), {"x": np.arange(30).reshape(1, 3, 5, 2).astype(kind)})


def test_explicit_pads() -> None:
    check(
        lambda x: raw.MaxPool(
            input=x, ksize=[1, 3, 3, 1], strides=[1, 2, 1, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 1, 0, 2, 1, 0, 0]
        ),
        {"x": normal(1, 6, 7, 2) - 3},
    )


def test_windows_that_are_operands() -> None:
    check(lambda x: raw.MaxPoolV2(input=x, **window(3, 2, "SAME")), {"x": normal(1, 6, 7, 2)})


def test_maxima_of_channels() -> None:
    check(
        lambda x: raw.MaxPool(input=x, ksize=[1, 1, 1, 3], strides=[1, 1, 1, 3], padding="VALID"), {"x": normal(2, 3, 4, 6)}, operations=2
    )


@pytest.mark.parametrize("with_batch", [False, True])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_maxima_with_their_places(padding: str, with_batch: bool) -> None:
    attributes = {**window(3, 2, padding), "include_batch_in_index": with_batch, "Targmax": tf.int32 if with_batch else tf.int64}
    forms = ("static", "dynamic", "rank") if padding == "VALID" else ("static",)
    check(lambda x: raw.MaxPoolWithArgmax(input=x, **attributes), {"x": normal(2, 6, 7, 3)}, forms=forms)
    check(lambda x: raw.MaxPoolWithArgmax(input=x, **attributes)[0], {"x": normal(2, 6, 7, 3)})


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_index_of_the_smallest_number(dtype: type[np.integer[Any]]) -> None:
    x = np.array([1, 5, 2, 4, 3, np.iinfo(dtype).min], dtype).reshape(2, 3, 1, 1)
    attributes = {"ksize": [1, 1, 1, 1], "strides": [1, 1, 1, 1], "padding": "VALID"}
    check(lambda x: raw.MaxPoolWithArgmax(input=x, **attributes), {"x": x}, forms=("static",))


@pytest.mark.parametrize("attributes", [{"ksize": [2, 2, 2, 1]}, {"ksize": [1, 0, 2, 1]}, {"ksize": [1, 2, 1]}])
def test_impossible_windows_are_refused(attributes: dict[str, list[int]], tmp_path: Any) -> None:
    graph, _ = build(lambda x: raw.MaxPool(input=x, **window(2, 2, "VALID")), {"x": normal(1, 6, 6, 2)})
    with graph.as_default():
        definition = graph.as_graph_def()
    node = next(node for node in definition.node if node.op == "MaxPool")
    node.attr["ksize"].list.i[:] = attributes["ksize"]

    class Stored:
        def as_graph_def(self) -> Any:
            return definition

    with pytest.raises(ConversionError, match="ksize"):
        convert_graph(Stored(), tmp_path)


@pytest.mark.parametrize("batch", [True, False])
def test_positions_with_automatic_padding_of_unknown_sizes(batch: bool) -> None:
    x = np.random.default_rng(4).normal(size=(2, 5, 4, 3)).astype(np.float32)

    def pooled(x: Any) -> Any:
        properties = {"ksize": [1, 3, 3, 1], "strides": [1, 2, 2, 1], "padding": "SAME", "include_batch_in_index": batch}
        return tf.raw_ops.MaxPoolWithArgmax(input=x, **properties)

    check(pooled, {"x": x})
