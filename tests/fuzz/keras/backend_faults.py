"""What one backend of Keras computes otherwise than Keras declares it, or than the other backends do: these are no cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from tests.fuzz.draw import NoCase
from tests.fuzz.keras.recipe import Call, keras


@dataclass(frozen=True)
class BackendFault:
    """A fault of some backends.

    Args:
        backends: their names, separated by spaces.
        subjects: the layers or functions, separated by spaces.
        holds: whether a call meets it.
        reason: what it is, in a sentence.
    """

    backends: str
    subjects: str
    holds: Callable[[Call], bool]
    reason: str


def _has_several_blocks(call: Call) -> bool:
    """Whether images with channels first have more than one channel in their form with larger pixels."""
    options = getattr(call.layer, "keywords", {})
    block = options["block_size"] ** 2 if call.layer.func is keras.ops.depth_to_space else 1
    return options["data_format"] == "channels_first" and call.arrays[0].shape[1] // block > 1


def _is_shorter_than_filters(call: Call) -> bool:
    """Whether a convolution without padding has no result."""
    try:
        call.layer.compute_output_shape(call.arrays[0].shape)
    except ValueError:
        return True
    return False


def _has_smallest_integer(call: Call) -> bool:
    """Whether an integer has no absolute value in its element type."""
    return any(each.dtype.kind == "i" and bool((each == np.iinfo(each.dtype).min).any()) for each in call.arrays)


def _has_groups_of_one_number(call: Call) -> bool:
    """Whether each number is a group of its own, whose mean it is."""
    return call.layer.groups == int(np.prod(call.arrays[0].shape[1:]))


FAULTS = (
    BackendFault(
        "tensorflow",
        "GroupNormalization",
        _has_groups_of_one_number,
        "a number minus itself is not 0: both are multiplied by 1 / √epsilon and rounded before",
    ),
    BackendFault(
        "tensorflow",
        "nextafter",
        lambda call: bool(np.isinf(call.arrays[0].astype(np.float64)).any()),
        "the neighbour of infinity is that of f64, which is infinity in other types; with JAX, PyTorch and numpy it is the largest number",
    ),
    BackendFault("tensorflow jax", "gcd lcm", _has_smallest_integer, "the absolute value of the smallest integer overflows"),
    BackendFault(
        "tensorflow jax",
        "cast",
        lambda call: call.arrays[0].dtype.kind in "fV" and "uint" in str(call.layer.keywords) and bool((call.arrays[0] < 0).any()),
        "negative floats are no unsigned integers; what a processor makes of them is not defined",
    ),
    BackendFault(
        "tensorflow",
        "rot90",
        lambda call: call.layer.keywords.get("k", 1) % 4 == 2,
        "two turns are one, whose rows and columns have the sizes of two",
    ),
    BackendFault(
        "tensorflow",
        "isclose",
        lambda call: any(bool(np.isinf(each).any()) for each in call.arrays if each.dtype.kind == "f"),
        "all numbers are close to infinities; with JAX, PyTorch and numpy they are close to none, or to themselves",
    ),
    BackendFault(
        "tensorflow",
        "Conv1D Conv2D Conv3D Convolution1D Convolution2D Convolution3D DepthwiseConv1D DepthwiseConv2D SeparableConv1D SeparableConv2D",
        _is_shorter_than_filters,
        "images that are smaller than the filters have results other than those that Keras declares",
    ),
    BackendFault(
        "tensorflow",
        "depth_to_space space_to_depth",
        _has_several_blocks,
        "the places within a block are the first axis of the channels of TensorFlow, and the last one of JAX, PyTorch and numpy",
    ),
    BackendFault(
        "jax",
        "vstack",
        lambda call: call.arrays[0].ndim == 1,
        "JAX makes a row of each vector; the result that Keras declares is one vector, as in TensorFlow",
    ),
    BackendFault(
        "jax torch numpy",
        "searchsorted",
        lambda call: call.layer.keywords["side"] == "left" and bool(np.isnan(call.arrays[1]).any()),
        "a NaN is after all elements; with TensorFlow, it is before them on the left",
    ),
    BackendFault(
        "tensorflow jax",
        "argmax argmin",
        lambda call: call.arrays[0].dtype.kind == "f" and len(np.unique(np.signbit(call.arrays[0][call.arrays[0] == 0]))) > 1,
        "-0 is taken for a smaller number than 0, to distinguish both from subnormal numbers; PyTorch and numbers of IEEE 754 do not",
    ),
)
"""All of them that were met."""


def check(subject: str, call: Call) -> None:
    """Raise NoCase if a call meets a fault of the backend in use."""
    for fault in FAULTS:
        if keras.backend.backend() in fault.backends.split() and subject in fault.subjects.split() and fault.holds(call):
            raise NoCase(fault.reason)


def is_taken_for_a_bias(shape: Sequence[int | None], other: Sequence[int | None]) -> bool:
    """Whether Keras' addition with TensorFlow takes its second operand for a bias of another axis than it has.

    It does so where only one size of the operand is not 1, and that is the second or the last size of the first one:

        [1, 2, 2, 1] + [2, 1]   adds to the axis 1, that of the steps, instead of 2, that of the heads
    """
    axes = [axis for axis, size in enumerate(other, len(shape) - len(other)) if size != 1]
    if len(axes) != 1 or len(shape) < 2 or (size := other[axes[0] - len(shape)]) not in (shape[1], shape[-1]):
        return False
    return axes[0] != (len(shape) - 1 if size == shape[-1] else 1)


@contextmanager
def checked_additions() -> Iterator[None]:
    """Additions raise NoCase where TensorFlow takes an operand for a bias of another axis."""
    if keras.backend.backend() != "tensorflow":
        yield
        return
    functions: Any = import_module("keras.src.backend.tensorflow.numpy")
    add = functions.add

    def checked(x1: Any, x2: Any) -> Any:
        if is_taken_for_a_bias(*([*getattr(each, "shape", ())] for each in (x1, x2))):
            raise NoCase("TensorFlow adds an operand to another axis")
        return add(x1, x2)

    functions.add = checked
    try:
        yield
    finally:
        functions.add = add
