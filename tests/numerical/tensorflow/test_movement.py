"""Concatenation, splitting, transposition, padding, repetition, reversal and blocks of TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from tests.numerical.tensorflow.conversion import FORMS, Build, check

RANDOM = np.random.default_rng(3)
raw = tf.raw_ops


def real(*shape: int) -> Any:
    """Random f32 data."""
    return RANDOM.normal(size=shape).astype(np.float32)


def i32(*values: Any) -> Any:
    """A list of i32."""
    return np.array(values, np.int32)


X = real(2, 3, 4, 5)
IMAGE = real(2, 4, 6, 8)

# function, data, most operations
SINGLE: dict[str, tuple[Build, Any, int]] = {
    "Concat": (lambda x: raw.Concat(concat_dim=1, values=[x, x]), X, 1),
    "ConcatV2": (lambda x: raw.ConcatV2(values=[x, 2 * np.ones((2, 3, 4, 1), np.float32)], axis=-1), X, 1),
    "Pack": (lambda x: raw.Pack(values=[x, x], axis=0), X, 3),
    "Pack last": (lambda x: raw.Pack(values=[x, X], axis=-1), X, 2),
    "Pack one": (lambda x: raw.Pack(values=[x], axis=1), X, 1),
    "Unpack": (lambda x: raw.Unpack(value=x, num=3, axis=1), X, 4),
    "Unpack negative": (lambda x: raw.Unpack(value=x, num=5, axis=-1)[3], X, 1),
    "Unpack some": (lambda x: raw.Unpack(value=x, num=3, axis=1)[1:], X, 3),
    "Unpack one": (lambda x: raw.Unpack(value=x[:1], num=1, axis=0), X, 2),
    "Split": (lambda x: raw.Split(axis=2, value=x, num_split=2), X, 1),
    "Split some": (lambda x: raw.Split(axis=-1, value=x, num_split=5)[3], X, 1),
    "SplitV": (lambda x: raw.SplitV(value=x, size_splits=[1, -1, 2], axis=3, num_split=3), X, 1),
    "SplitV equal": (lambda x: raw.SplitV(value=x, size_splits=[2, 2], axis=-2, num_split=2)[1], X, 1),
    "Transpose": (lambda x: raw.Transpose(x=x, perm=[0, 3, 1, 2]), X, 1),
    "Transpose nothing": (lambda x: raw.Transpose(x=x, perm=[0, 1, 2, 3]), X, 0),
    "ConjugateTranspose": (lambda x: raw.ConjugateTranspose(x=x, perm=[1, 0, 3, 2]), X, 1),
    "Tile": (lambda x: raw.Tile(input=x, multiples=[1, 2, 1, 3]), X, 1),
    "Tile nothing": (lambda x: raw.Tile(input=x, multiples=[1, 1, 1, 1]), X, 0),
    "Reverse": (lambda x: raw.Reverse(tensor=x, dims=[False, True, False, True]), X, 1),
    "ReverseV2": (lambda x: raw.ReverseV2(tensor=x, axis=[1, -1]), X, 1),
    "ReverseV2 nothing": (lambda x: raw.ReverseV2(tensor=x, axis=np.zeros(0, np.int32)), X, 0),
    "ReverseV2 bool": (lambda x: raw.ReverseV2(tensor=x, axis=[0]), X > 0, 1),
    "ReverseSequence": (lambda x: raw.ReverseSequence(input=x, seq_lengths=np.array([2, 4]), seq_dim=2, batch_dim=0), X, 1),
    "ReverseSequence i32": (lambda x: raw.ReverseSequence(input=x, seq_lengths=i32(0, 2, 1), seq_dim=3, batch_dim=1), X, 1),
    "Roll": (lambda x: raw.Roll(input=x, shift=2, axis=-1), X, 1),
    "Roll several": (lambda x: raw.Roll(input=x, shift=[1, -2, 1], axis=[0, 2, 2]), X, 1),
    "Pad": (lambda x: raw.Pad(input=x, paddings=[[0, 0], [1, 2], [3, 0], [0, 1]]), X, 1),
    "Pad nothing": (lambda x: raw.Pad(input=x, paddings=np.zeros((4, 2), np.int64)), X, 0),
    "PadV2": (lambda x: raw.PadV2(input=x, paddings=[[0, 1], [2, 0]], constant_values=7), i32([1, 2, 3], [4, 5, 6]), 1),
    "PadV2 bool": (lambda x: raw.PadV2(input=x, paddings=[[0, 1]], constant_values=True), np.array([True, False]), 1),
    "MirrorPad reflect": (lambda x: raw.MirrorPad(input=x, paddings=[[0, 0], [2, 1], [0, 3], [0, 0]], mode="REFLECT"), X, 1),
    "MirrorPad symmetric": (lambda x: raw.MirrorPad(input=x, paddings=[[2, 0], [0, 0], [4, 1], [1, 5]], mode="SYMMETRIC"), X, 1),
    "DepthToSpace": (lambda x: raw.DepthToSpace(input=x, block_size=2), IMAGE, 3),
    "SpaceToDepth": (lambda x: raw.SpaceToDepth(input=x, block_size=2), IMAGE, 3),
    "SpaceToBatchND": (lambda x: raw.SpaceToBatchND(input=x, block_shape=[2, 3], paddings=[[1, 1], [0, 3]]), IMAGE, 1),
    "SpaceToBatchND line": (lambda x: raw.SpaceToBatchND(input=x, block_shape=[2], paddings=[[0, 1]]), real(2, 3, 4), 1),
    "SpaceToBatchND volume": (
        lambda x: raw.SpaceToBatchND(input=x, block_shape=[2, 1, 2], paddings=np.zeros((3, 2), np.int32)),
        real(1, 2, 3, 2, 2),
        1,
    ),
    "BatchToSpaceND": (lambda x: raw.BatchToSpaceND(input=x, block_shape=[2, 1], crops=[[1, 2], [0, 1]]), IMAGE, 1),
    "BatchToSpaceND line": (lambda x: raw.BatchToSpaceND(input=x, block_shape=[2], crops=[[0, 1]]), real(4, 3, 4), 1),
    "SpaceToBatch": (lambda x: raw.SpaceToBatch(input=x, paddings=[[0, 0], [1, 1]], block_size=2), IMAGE, 1),
    "BatchToSpace": (lambda x: raw.BatchToSpace(input=x, crops=[[0, 1], [1, 0]], block_size=2), real(4, 2, 3, 1), 1),
}  # fmt: skip


@pytest.mark.parametrize("name", SINGLE)
def test_movement(name: str) -> None:
    function, data, operations = SINGLE[name]
    check(function, {"x": data}, operations=operations)


DTYPES = (np.float64, np.float16, np.int64, np.int32, np.int8, np.uint8, np.int16, np.uint16, np.bool_)


@pytest.mark.parametrize("dtype", DTYPES)
def test_element_types(dtype: Any) -> None:
    """What moves elements does so for every element type."""

    def build(x: Any) -> Any:
        padded = raw.PadV2(input=x, paddings=[[1, 0], [0, 2]], constant_values=tf.constant(np.array(1, dtype)))
        parts = raw.Split(axis=1, value=raw.Transpose(x=padded, perm=[1, 0]), num_split=2)
        return raw.ReverseV2(tensor=raw.ConcatV2(values=parts, axis=0), axis=[0]), raw.Roll(
            input=raw.Pack(values=parts, axis=1), shift=1, axis=0
        )

    check(build, {"x": RANDOM.integers(0, 3, (3, 4)).astype(dtype)}, forms=("static", "dynamic"))


COMPUTED: dict[str, tuple[Build, dict[str, Any]]] = {
    "Transpose": (lambda x, perm: raw.Transpose(x=x, perm=perm), {"x": X, "perm": i32(2, 0, 3, 1)}),
    "Tile": (lambda x, multiples: raw.Tile(input=x, multiples=multiples), {"x": real(2, 3), "multiples": i32(2, 3)}),
    "Tile ones": (lambda x, multiples: raw.Tile(input=x, multiples=multiples), {"x": real(1, 1), "multiples": i32(2, 3)}),
    "Tile batch": (lambda x, y: raw.Tile(input=x, multiples=[tf.shape(y)[0], 1]), {"x": real(1, 3), "y": real(4, 1)}),
    "SplitV": (
        lambda x, sizes: raw.SplitV(value=x, size_splits=sizes, axis=1, num_split=2),
        {"x": X, "sizes": np.array([1, 2], np.int64)},
    ),
    "Roll": (lambda x, shift, axis: raw.Roll(input=x, shift=shift, axis=axis), {"x": X, "shift": i32(1, 2), "axis": i32(0, -1)}),
    "Roll scalar": (lambda x, shift: raw.Roll(input=x, shift=shift, axis=1), {"x": X, "shift": np.array(-1, np.int64)}),
    "Pad": (lambda x, widths: raw.Pad(input=x, paddings=widths), {"x": real(2, 3), "widths": i32([1, 2], [0, 3])}),
    "PadV2": (
        lambda x, widths, value: raw.PadV2(input=x, paddings=widths, constant_values=value),
        {"x": real(2, 3), "widths": i32([1, 2], [0, 3]), "value": np.array(2.5, np.float32)},
    ),
    "MirrorPad": (
        lambda x, widths: raw.MirrorPad(input=x, paddings=widths, mode="REFLECT"),
        {"x": real(3, 3), "widths": i32([1, 2], [0, 2])},
    ),
    "SpaceToBatchND": (
        lambda x, block, widths: raw.SpaceToBatchND(input=x, block_shape=block, paddings=widths),
        {"x": IMAGE, "block": i32(2, 3), "widths": i32([1, 1], [0, 0])},
    ),
    "BatchToSpaceND": (
        lambda x, block, crops: raw.BatchToSpaceND(input=x, block_shape=block, crops=crops),
        {"x": real(6, 2, 3, 2), "block": i32(2, 3), "crops": i32([1, 1], [0, 2])},
    ),
    "Reverse": (lambda x, flags: raw.Reverse(tensor=x, dims=flags), {"x": X, "flags": np.array([True, False, True, False])}),
    "ReverseV2": (lambda x, axes: raw.ReverseV2(tensor=x, axis=axes), {"x": X, "axes": i32(2, 0)}),
    "ReverseSequence": (
        lambda x, lengths: raw.ReverseSequence(input=x, seq_lengths=lengths, seq_dim=1),
        {"x": real(3, 4), "lengths": i32(1, 3, 4)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPUTED)
def test_computed_operands(name: str) -> None:
    function, inputs = COMPUTED[name]
    forms = ("static", "dynamic") if name == "ReverseV2" else FORMS
    check(
        function,
        inputs,
        forms=forms,
        operations=1 if name == "Tile ones" else None,
        fixed=tuple(key for key, value in inputs.items() if value.ndim < 2 or value.dtype == np.int32),
    )


def complex_parts(x: Any) -> Any:
    """A complex number from the two numbers in the last dimension, in TensorFlow and in the model."""
    return raw.Complex(real=x[..., 0], imag=x[..., 1])


def parts_of(x: Any) -> Any:
    """Real and imaginary part."""
    return raw.Real(input=x), raw.Imag(input=x)


COMPLEX: dict[str, Build] = {
    "ConcatV2": lambda x: raw.ConcatV2(values=[x, x], axis=-1),
    "Pack": lambda x: raw.Pack(values=[x, x], axis=-1),
    "Unpack": lambda x: raw.Unpack(value=x, num=4, axis=-1)[2],
    "Transpose": lambda x: raw.Transpose(x=x, perm=[2, 0, 1]),
    "Roll": lambda x: raw.Roll(input=x, shift=[1], axis=[-1]),
    "GatherV2": lambda x: raw.GatherV2(params=x, indices=[2, 0], axis=-1),
    "StridedSlice": lambda x: x[1:, ..., 2],
    "StridedSlice ellipsis": lambda x: x[..., 1:3],
    "StridedSlice new": lambda x: x[..., tf.newaxis],
    "StridedSlice mixed": lambda x: x[0, ..., tf.newaxis, 1::2],
    "Slice": lambda x: raw.Slice(input=x, begin=[0, 1, 1], size=[2, -1, 2]),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_complex(name: str) -> None:
    """A complex tensor has one more dimension, for real and imaginary part, which stays the last one."""
    check(lambda x: parts_of(COMPLEX[name](complex_parts(x))), {"x": real(2, 3, 4, 2)}, forms=("static", "dynamic"))


def test_computed_axis_is_refused() -> None:
    with pytest.raises(ConversionError, match="axis is computed"):
        check(lambda x, axis: raw.ConcatV2(values=[x, x], axis=axis), {"x": X, "axis": np.array(1, np.int32)})


def test_unknown_data_format_is_refused() -> None:
    with pytest.raises(ConversionError, match="NCHW_VECT_C"):
        check(
            lambda x: raw.DepthToSpace(input=x, block_size=2, data_format="NCHW_VECT_C"),
            {"x": np.zeros((1, 4, 2, 2, 4), np.int8)},
            expected=[np.zeros(1, np.int8)],
        )


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_blocks_larger_than_the_data(dtype: type) -> None:
    x = np.array([5, 7, 2, 7, 1, 7], dtype).reshape(1, 3, 1, 2)
    check(lambda x: tf.raw_ops.SpaceToBatchND(input=x, block_shape=[1, 3], paddings=[[0, 0], [1, 1]]), {"x": x})


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("element", [np.int32, np.int64])
def test_offsets_of_parts(axis: int, element: type) -> None:
    """Where parts begin in their concatenation."""
    sizes = [np.array([2, size] if axis else [size, 2], element) for size in (3, 4, 1)]
    check(
        lambda a, b, c: raw.ConcatOffset(concat_dim=axis, shape=[a, b, c]),
        dict(zip("abc", sizes, strict=True)),
        forms=("static", "dynamic"),
    )
    check(
        lambda axis, a: raw.ConcatOffset(concat_dim=axis, shape=[a, sizes[1]]),
        {"axis": np.array(axis, np.int32), "a": sizes[0]},
        forms=("static",),
    )


def test_parallel_concatenation() -> None:
    """TensorFlow makes a graph of it with known sizes only."""
    check(lambda x: raw.ParallelConcat(values=[x[:1], x[1:] * 2], shape=X.shape), {"x": X}, forms=("static",), operations=4)


# Data formats, which grappler changes in optimized graphs


@pytest.mark.parametrize(("source", "target"), [("NHWC", "NCHW"), ("NCHW", "NHWC"), ("NHWC", "HWNC"), ("NDHWC", "NCDHW")])
@pytest.mark.parametrize("element", [np.int32, np.int64])
def test_axes_and_sizes_of_another_format(source: str, target: str, element: type) -> None:
    formats = {"src_format": source, "dst_format": target}
    axes = np.arange(-len(source), len(source), dtype=element)
    check(lambda x: raw.DataFormatDimMap(x=x, **formats), {"x": axes})
    sizes = np.arange(3, 3 + len(source), dtype=element)
    for each in (sizes, sizes[2:], np.stack([sizes, sizes + 9], 1), np.stack([sizes[2:], sizes[2:] + 9], 1)):
        check(lambda x: raw.DataFormatVecPermute(x=x, **formats), {"x": each}, fixed=("x",), operations=1)


def test_sizes_of_unknown_axes_are_refused() -> None:
    with pytest.raises(ConversionError, match="number of its axes"):
        check(lambda x: raw.DataFormatVecPermute(x=x), {"x": i32(1, 2, 3, 4)}, forms=("dynamic",))
