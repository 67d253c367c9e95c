"""Convolutions of TensorFlow against TensorFlow itself: paddings, strides, dilations, groups, layouts, fused operations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from tests.numerical.runtime import Array
from tests.numerical.tensorflow.conversion import build, check, convert_graph, ordered_results
from tests.numerical.tensorflow.internal_nodes import internal_node

raw = tf.raw_ops


def normal(*shape: int, seed: int = 0, kind: str = "float32") -> Array:
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype(kind)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("size", "kernel", "stride", "dilation"), [((7, 8), (3, 2), 1, 1), ((8, 7), (3, 3), 2, 1), ((9, 9), (3, 3), 1, 2)])
def test_convolution(padding: str, size: tuple[int, int], kernel: tuple[int, int], stride: int, dilation: int) -> None:
    filters = normal(*kernel, 3, 4)
    check(
        lambda x: raw.Conv2D(
            input=x, filter=filters, strides=[1, stride, stride, 1], padding=padding, dilations=[1, dilation, dilation, 1]
        ),
        {"x": normal(2, *size, 3)},
        operations=3,
    )


def test_convolution_with_explicit_pads_and_computed_filters() -> None:
    check(
        lambda x, w: raw.Conv2D(input=x, filter=w, strides=[1, 2, 1, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 1, 2, 0, 3, 0, 0]),
        {"x": normal(1, 6, 7, 2), "w": normal(3, 3, 2, 3)},
        fixed=["w"],
    )


def test_convolution_of_groups() -> None:
    filters = normal(3, 3, 2, 8)
    check(
        lambda x: raw.Conv2D(input=x, filter=filters, strides=[1, 1, 1, 1], padding="SAME"),
        {"x": normal(2, 5, 5, 4)},
        fixed=["x"],
        operations=3,
    )


def test_convolution_of_integers() -> None:
    rng = np.random.default_rng(0)
    filters = rng.integers(-5, 5, (2, 2, 3, 2)).astype(np.int32)
    image = rng.integers(-9, 9, (1, 4, 5, 3)).astype(np.int32)
    expected = tf.nn.conv2d(image.astype(np.float32), filters.astype(np.float32), 1, "VALID").numpy().astype(np.int32)
    check(lambda x: raw.Conv2D(input=x, filter=filters, strides=[1, 1, 1, 1], padding="VALID"), {"x": image}, expected=[expected])


def test_channel_first_convolution() -> None:
    """TensorFlow has no kernel for it on CPUs."""
    filters, image = normal(3, 3, 2, 4), normal(1, 2, 6, 7)
    expected = tf.nn.conv2d(image.transpose(0, 2, 3, 1), filters, [1, 2, 1, 1], "SAME").numpy().transpose(0, 3, 1, 2)
    check(
        lambda x: raw.Conv2D(input=x, filter=filters, strides=[1, 1, 2, 1], padding="SAME", data_format="NCHW"),
        {"x": image},
        expected=[expected],
        operations=1,
    )


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_convolution_of_volumes(padding: str) -> None:
    filters = normal(2, 3, 2, 3, 4)
    check(
        lambda x: raw.Conv3D(input=x, filter=filters, strides=[1, 1, 2, 1, 1], padding=padding), {"x": normal(1, 4, 5, 6, 3)}, operations=3
    )


@pytest.mark.parametrize(("multiplier", "stride", "padding"), [(1, 1, "SAME"), (2, 2, "SAME"), (3, 1, "VALID")])
def test_depthwise_convolution(multiplier: int, stride: int, padding: str) -> None:
    filters = normal(3, 2, 4, multiplier)
    check(
        lambda x: raw.DepthwiseConv2dNative(input=x, filter=filters, strides=[1, stride, stride, 1], padding=padding),
        {"x": normal(2, 7, 6, 4)},
        operations=3,
    )


def test_half_precision() -> None:
    filters = normal(3, 3, 2, 3, kind="float16")
    check(
        lambda x: raw.Conv2D(input=x, filter=filters, strides=[1, 1, 1, 1], padding="SAME"),
        {"x": normal(1, 5, 5, 2, kind="float16")},
        rtol=1e-2,
        atol=2e-2,
    )


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("size", "kernel", "stride"), [(7, 3, 2), (8, 3, 2), (8, 2, 3), (6, 4, 1), (10, 4, 3)])
def test_transposed_convolution(padding: str, size: int, kernel: int, stride: int) -> None:
    """The sizes of the result are constant, or an operand."""
    filters = normal(kernel, kernel, 3, 2)
    count = -(-size // stride) if padding == "SAME" else -(-(size - kernel + 1) // stride)
    strides = [1, stride, stride, 1]
    data = normal(1, count, count, 2)

    def transposed(x: tf.Tensor, sizes: object) -> tf.Tensor:
        return raw.Conv2DBackpropInput(input_sizes=sizes, filter=filters, out_backprop=x, strides=strides, padding=padding)

    check(lambda x: transposed(x, [1, size, size, 3]), {"x": data}, operations=3)
    check(transposed, {"x": data, "sizes": np.array([1, size, size, 3], np.int32)}, fixed=["sizes"], forms=("dynamic", "rank"))


@pytest.mark.parametrize("padding", ["SAME", "VALID", "EXPLICIT"])
@pytest.mark.parametrize("size", [7, 8])
def test_transposed_convolution_of_known_data_to_a_size_that_is_an_input(padding: str, size: int) -> None:
    filters, pads = normal(3, 3, 3, 2), [0, 0, 1, 0, 0, 2, 0, 0] if padding == "EXPLICIT" else []
    count = [-(-size // 2)] * 2 if padding == "SAME" else [(size + sum(pads[index : index + 2]) - 3) // 2 + 1 for index in (2, 4)]
    data = normal(2, *count, 2)

    def transposed(sizes: tf.Tensor, x: object = data) -> tf.Tensor:
        return raw.Conv2DBackpropInput(
            input_sizes=sizes, filter=filters, out_backprop=x, strides=[1, 2, 2, 1], padding=padding, explicit_paddings=pads
        )

    sizes = np.array([2, size, size, 3], np.int32)
    check(transposed, {"sizes": sizes}, forms=("static",))
    check(transposed, {"sizes": sizes, "x": data}, forms=("static",))


def test_transposed_convolution_of_a_computed_size() -> None:
    """The size as Keras computes it."""
    filters = normal(3, 3, 4, 2)

    def transposed(x: tf.Tensor) -> tf.Tensor:
        shape = tf.shape(x)
        return tf.nn.conv2d_transpose(x, filters, tf.stack([shape[0], shape[1] * 2, shape[2] * 2, 4]), 2, "SAME")

    check(transposed, {"x": normal(2, 3, 5, 2)}, forms=("static", "dynamic"), operations=3)


def test_transposed_convolution_with_explicit_pads_and_two_sizes() -> None:
    filters = normal(3, 4, 3, 2)
    data = normal(1, 4, 3, 2)
    check(
        lambda x: raw.Conv2DBackpropInput(
            input_sizes=[1, 7, 6, 3],
            filter=filters,
            out_backprop=x,
            strides=[1, 2, 2, 1],
            padding="EXPLICIT",
            explicit_paddings=[0, 0, 1, 1, 0, 2, 0, 0],
        ),
        {"x": data},
    )
    check(
        lambda x: raw.Conv2DBackpropInput(input_sizes=[9, 8], filter=filters, out_backprop=x, strides=[1, 2, 2, 1], padding="VALID"),
        {"x": data},
    )


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_transposed_convolution_of_volumes(padding: str) -> None:
    filters, size = normal(2, 3, 2, 4, 2), [1, 5, 6, 4, 4]
    count = [-(-a // 2) if padding == "SAME" else (a - b) // 2 + 1 for a, b in zip(size[1:4], (2, 3, 2), strict=True)]
    data = normal(1, *count, 2)
    check(
        lambda x: raw.Conv3DBackpropInputV2(input_sizes=size, filter=filters, out_backprop=x, strides=[1, 2, 2, 2, 1], padding=padding),
        {"x": data},
        operations=3,
    )


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_transposed_depthwise_convolution(padding: str) -> None:
    filters, size = normal(3, 3, 2, 3), 7
    count = 4 if padding == "SAME" else 3
    check(
        lambda x: raw.DepthwiseConv2dNativeBackpropInput(
            input_sizes=[1, size, size, 2], filter=filters, out_backprop=x, strides=[1, 2, 2, 1], padding=padding
        ),
        {"x": normal(1, count, count, 6)},
        operations=3,
    )


@pytest.mark.parametrize(
    ("padding", "stride", "rate", "forms"),
    [("SAME", 1, 1, ("static", "dynamic")), ("SAME", 2, 1, ("static", "dynamic")), ("VALID", 2, 2, ("static", "rank"))],
)
def test_dilation(padding: str, stride: int, rate: int, forms: tuple[str, ...]) -> None:
    filters = normal(3, 2, 3)
    check(
        lambda x: raw.Dilation2D(input=x, filter=filters, strides=[1, stride, stride, 1], rates=[1, rate, rate, 1], padding=padding),
        {"x": normal(1, 7, 6, 3) - 3},
        forms=forms,
    )


FUSED = {
    "bias": (["BiasAdd"], 1, lambda y, v: y + v[0]),
    "relu": (["BiasAdd", "Relu"], 1, lambda y, v: tf.nn.relu(y + v[0])),
    "leaky": (["BiasAdd", "LeakyRelu"], 1, lambda y, v: tf.nn.leaky_relu(y + v[0], 0.3)),
    "elu": (["BiasAdd", "Elu"], 1, lambda y, v: tf.nn.elu(y + v[0])),
    "norm": (
        ["FusedBatchNorm", "Relu6"],
        4,
        lambda y, v: tf.nn.relu6((y - v[2]) / tf.sqrt(v[3] + 0.01) * v[0] + v[1]),
    ),
}


@pytest.mark.parametrize("name", FUSED)
def test_convolution_with_fused_operations(name: str) -> None:
    operations, count, reference = FUSED[name]
    filters, image = normal(3, 3, 2, 4), normal(1, 5, 6, 2)
    vectors = [np.abs(normal(4, seed=index)) for index in range(count)]
    expected = reference(tf.nn.conv2d(image, filters, 1, "SAME"), vectors).numpy()
    check(
        lambda x: internal_node(
            "_FusedConv2D",
            x,
            filters,
            *vectors,
            T=tf.float32,
            TArgs=[tf.float32] * count,
            num_args=count,
            strides=[1, 1, 1, 1],
            padding="SAME",
            fused_ops=operations,
            epsilon=0.01,
            leakyrelu_alpha=0.3,
        ),
        {"x": image},
        expected=[expected],
    )


def test_depthwise_convolution_with_fused_operations() -> None:
    filters, image, bias = normal(3, 3, 2, 2), normal(1, 5, 6, 2), normal(4)
    expected = tf.nn.relu(tf.nn.depthwise_conv2d(image, filters, [1, 1, 1, 1], "SAME") + bias).numpy()
    check(
        lambda x: internal_node(
            "_FusedDepthwiseConv2dNative",
            x,
            filters,
            bias,
            T=tf.float32,
            num_args=1,
            strides=[1, 1, 1, 1],
            padding="SAME",
            fused_ops=["BiasAdd", "Relu"],
        ),
        {"x": image},
        expected=[expected],
    )


def test_an_unknown_fused_operation_is_refused(tmp_path: object) -> None:
    filters = normal(3, 3, 2, 4)
    graph, _ = build(
        lambda x: internal_node(
            "_FusedConv2D",
            x,
            filters,
            normal(4),
            T=tf.float32,
            TArgs=[tf.float32],
            num_args=1,
            strides=[1, 1, 1, 1],
            padding="SAME",
            fused_ops=["BiasAdd", "Softsign"],
        ),
        {"x": normal(1, 5, 6, 2)},
    )
    with pytest.raises(ConversionError, match="Softsign"):
        convert_graph(graph, tmp_path)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_transposed_convolution_like_an_image(padding: str) -> None:
    """TensorFlow has no kernel on the CPU: the first version computes the same from the sizes of the image."""
    image, filters = normal(2, 7, 6, 3), normal(3, 3, 3, 4)
    options = {"strides": [1, 2, 2, 1], "padding": padding}
    gradient = tf.nn.conv2d(image, filters, 2, padding).numpy()
    expected = raw.Conv2DBackpropInput(input_sizes=image.shape, filter=filters, out_backprop=gradient, **options).numpy()
    check(
        lambda x, y: raw.Conv2DBackpropInputV2(input=x, filter=filters, out_backprop=y, **options),
        {"x": image, "y": gradient},
        expected=[expected],
        forms=("static", "dynamic"),
    )


def test_depthwise_filters_of_unknown_sizes(tmp_path: Path) -> None:
    """The channels say how many groups there are; the plugin does not compile the convolution itself."""
    random = np.random.default_rng(5)
    inputs = {"x": random.standard_normal((2, 5, 5, 3)).astype(np.float32), "w": random.standard_normal((2, 2, 3, 2)).astype(np.float32)}

    def function(x: Any, w: Any) -> Any:
        return tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "VALID")

    graph, names = build(function, inputs, form="dynamic", said={"x": [None, None, None, 3]})
    (actual,) = ordered_results(convert_graph(graph, tmp_path), names, inputs)
    np.testing.assert_allclose(actual, function(**inputs).numpy(), rtol=1e-4, atol=1e-5)
