"""Products and convolutions of XLA, as jax writes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from moir.frontends.tensorflow.dimension_numbers import MESSAGES
from tests.numerical.runtime import Array
from tests.numerical.tensorflow.conversion import check
from tests.numerical.tensorflow.xla_functions import check_compiled, messages, operations, xla

RANDOM = np.random.default_rng(31)


def floats(*shape: int) -> Array:
    return RANDOM.normal(size=shape).astype(np.float32)


def integers(*shape: int, dtype: Any = np.int32) -> Array:
    return RANDOM.integers(-5, 6, shape).astype(dtype)


def test_the_messages_are_those_of_xla() -> None:
    for name in ("DotDimensionNumbers", "ConvolutionDimensionNumbers", "GatherDimensionNumbers", "ScatterDimensionNumbers"):
        fields = {field.name: field.number for field in getattr(messages, name).DESCRIPTOR.fields}
        assert {field.name: field.number for field in MESSAGES.message_class(name).DESCRIPTOR.fields} == fields


def dot_numbers(contracting: tuple[list[int], list[int]], batch: tuple[list[int], list[int]] = ([], [])) -> Any:
    """DotDimensionNumbers: the dimensions of both operands."""
    return messages.DotDimensionNumbers(
        lhs_contracting_dimensions=contracting[0],
        rhs_contracting_dimensions=contracting[1],
        lhs_batch_dimensions=batch[0],
        rhs_batch_dimensions=batch[1],
    )


DOTS = {
    "matrices": ((3, 4), (4, 5), dot_numbers(([1], [0]))),
    "dense layer": ((2, 3, 4), (4, 5), dot_numbers(([2], [0]))),
    "first dimensions": ((4, 3), (4, 5), dot_numbers(([0], [0]))),
    "vectors": ((4,), (4,), dot_numbers(([0], [0]))),
    "outer": ((3,), (4,), dot_numbers(([], []))),
    "attention": ((2, 5, 3, 4), (2, 6, 3, 4), dot_numbers(([3], [3]), ([0, 2], [0, 2]))),
    "several": ((2, 3, 4), (3, 4, 5), dot_numbers(([1, 2], [0, 1]))),
    "heads": ((2, 6, 3, 4), (3, 4, 5), dot_numbers(([2, 3], [0, 1]))),
}


@pytest.mark.parametrize("name", DOTS)
def test_product(name: str) -> None:
    left, right, numbers = DOTS[name]
    inputs = {"a": floats(*left), "b": floats(*right)}
    check_compiled(lambda a, b: xla.dot_general(a, b, numbers, use_v2=True), inputs)
    check_compiled(lambda a, b: xla.dot_general(a, b, numbers), inputs, forms=("static",))


def test_product_of_integers() -> None:
    numbers = dot_numbers(([1], [0]))
    for dtype in (np.int32, np.int8, np.uint8):
        inputs = {"a": RANDOM.integers(0, 20, (3, 9)).astype(dtype), "b": RANDOM.integers(0, 20, (9, 2)).astype(dtype)}
        check_compiled(lambda a, b: xla.dot_general(a, b, numbers, use_v2=True), inputs)
        check_compiled(lambda a, b: xla.dot_general(a, b, numbers, preferred_element_type=tf.int32, use_v2=True), inputs)


def test_einsum() -> None:
    check_compiled(lambda a, b: operations.xla_einsum(a=a, b=b, equation="bij,bjk->bik"), {"a": floats(2, 3, 4), "b": floats(2, 4, 5)})


def test_contradictory_dimensions_are_refused() -> None:
    numbers = dot_numbers(([1, 1], [0, 1]))
    with pytest.raises(ConversionError, match="used twice"):
        check(
            lambda a: operations.xla_dot(lhs=a, rhs=a, dimension_numbers=numbers.SerializeToString(), precision_config=b""),
            {"a": floats(3, 3)},
            expected=[floats(1)],
            forms=("static",),
        )


def convolution_numbers(data: str, filters: str, result: str) -> Any:
    """ConvolutionDimensionNumbers from layouts: `NHWC`, `HWIO`, `NHWC`."""
    spatial = [letter for letter in data if letter not in "NC"]
    return messages.ConvolutionDimensionNumbers(
        input_batch_dimension=data.index("N"),
        input_feature_dimension=data.index("C"),
        input_spatial_dimensions=[data.index(each) for each in spatial],
        kernel_output_feature_dimension=filters.index("O"),
        kernel_input_feature_dimension=filters.index("I"),
        kernel_spatial_dimensions=[filters.index(each) for each in spatial],
        output_batch_dimension=result.index("N"),
        output_feature_dimension=result.index("C"),
        output_spatial_dimensions=[result.index(each) for each in spatial],
    )


NHWC = convolution_numbers("NHWC", "HWIO", "NHWC")
PLAIN: dict[str, Any] = {
    "window_strides": [1, 1], "padding": [(0, 0), (0, 0)], "lhs_dilation": [1, 1], "rhs_dilation": [1, 1], "feature_group_count": 1
}  # fmt: skip
CONVOLUTIONS: dict[str, Any] = {
    "plain": ((2, 7, 8, 3), (3, 2, 3, 4), NHWC, PLAIN),
    "strided": ((2, 7, 8, 3), (3, 3, 3, 4), NHWC, PLAIN | {"window_strides": [2, 2], "padding": [(0, 1), (2, 1)]}),
    "dilated": ((1, 9, 8, 3), (3, 3, 3, 4), NHWC, PLAIN | {"rhs_dilation": [2, 1]}),
    "depthwise": ((1, 6, 6, 4), (3, 3, 1, 8), NHWC, PLAIN | {"feature_group_count": 4, "padding": [(1, 1), (1, 1)]}),
    "grouped": ((1, 6, 6, 4), (3, 3, 2, 6), NHWC, PLAIN | {"feature_group_count": 2}),
    "channel first": ((1, 3, 6, 7), (4, 3, 2, 2), convolution_numbers("NCHW", "OIHW", "NCHW"), PLAIN),
    "other layouts": ((6, 3, 7, 1), (3, 2, 4, 2), convolution_numbers("HCWN", "IHOW", "WNHC"), PLAIN),
    "transposed": ((1, 4, 5, 3), (3, 3, 3, 2), NHWC, PLAIN | {"lhs_dilation": [2, 2], "padding": [(1, 2), (2, 1)]}),
    "transposed groups": ((1, 4, 5, 4), (3, 3, 2, 6), NHWC, PLAIN | {"lhs_dilation": [2, 1], "feature_group_count": 2}),
    "transposed and dilated": (
        (1, 4, 5, 3), (2, 3, 3, 2), NHWC, PLAIN | {"lhs_dilation": [3, 2], "rhs_dilation": [2, 1], "padding": [(1, 2)] * 2}
    ),
    "spread and strided": ((1, 4, 5, 3), (2, 2, 3, 2), NHWC, PLAIN | {"lhs_dilation": [2, 2], "window_strides": [3, 1]}),
    "widely padded": ((1, 4, 5, 3), (2, 2, 3, 2), NHWC, PLAIN | {"lhs_dilation": [2, 2], "padding": [(3, 3), (0, 4)]}),
}  # fmt: skip


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolution(name: str) -> None:
    data, filters, numbers, properties = CONVOLUTIONS[name]
    weights = floats(*filters)
    inputs = {"x": floats(*data), "w": weights}
    check_compiled(lambda x, w: xla.conv(x, w, dimension_numbers=numbers, use_v2=True, **properties), inputs, fixed=("w",))
    check_compiled(lambda x: xla.conv(x, weights, dimension_numbers=numbers, **properties), {"x": inputs["x"]}, forms=("static",))


def test_convolution_of_cropped_data() -> None:
    # XLA (TensorFlow 2.21, CPU) reads beyond the data.
    x, filters = floats(1, 9, 8, 3), floats(3, 3, 3, 4)
    inside = np.pad(x[:, 1:, :-2], [(0, 0), (0, 1), (0, 0), (0, 0)])
    check(
        lambda x: xla.conv(x, filters, dimension_numbers=NHWC, **PLAIN | {"padding": [(-1, 1), (0, -2)]}),
        {"x": x},
        expected=[tf.nn.conv2d(inside, filters, 1, "VALID").numpy()],
        forms=("static", "dynamic"),
    )


def test_convolution_along_one_and_three_axes() -> None:
    line = PLAIN | {"window_strides": [2], "padding": [(1, 0)], "lhs_dilation": [1], "rhs_dilation": [1]}
    numbers = convolution_numbers("NWC", "WIO", "NWC")
    check_compiled(
        lambda x, w: xla.conv(x, w, dimension_numbers=numbers, **line), {"x": floats(2, 9, 3), "w": floats(3, 3, 4)}, fixed=("w",)
    )
    cube = {name: [1] * 3 for name in ("window_strides", "lhs_dilation", "rhs_dilation")} | {
        "padding": [(0, 1)] * 3,
        "feature_group_count": 1,
    }
    volumes = convolution_numbers("NDHWC", "DHWIO", "NDHWC")
    inputs = {"x": floats(1, 4, 5, 4, 2), "w": floats(2, 3, 2, 2, 3)}
    check_compiled(lambda x, w: xla.conv(x, w, dimension_numbers=volumes, **cube), inputs, fixed=("w",))


def test_convolution_of_integers() -> None:
    inputs = {"x": integers(1, 5, 5, 2, dtype=np.int8), "w": integers(3, 3, 2, 3, dtype=np.int8)}
    check_compiled(
        lambda x, w: xla.conv(x, w, dimension_numbers=NHWC, use_v2=True, preferred_element_type=tf.int32, **PLAIN), inputs, fixed=("w",)
    )


def test_groups_of_the_batch_are_refused() -> None:
    inputs = {"x": floats(2, 5, 5, 2), "w": floats(3, 3, 2, 4)}
    with pytest.raises(ConversionError, match="batch_group_count"):
        check_compiled(lambda x, w: xla.conv(x, w, dimension_numbers=NHWC, use_v2=True, batch_group_count=2, **PLAIN), inputs)
