"""Fourier transforms and complex numbers of TensorFlow against TensorFlow itself."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from tests.numerical.runtime import Array
from tests.numerical.tensorflow.conversion import check

raw = tf.raw_ops


def normal(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


PARTS = {"a": normal(2, 3, 4, 5), "b": normal(2, 3, 4, 5) * 2 + 1}


def parts_of(value: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    return raw.Real(input=value), raw.Imag(input=value)


@pytest.mark.parametrize("kind", ["FFT", "FFT2D", "FFT3D", "IFFT", "IFFT2D", "IFFT3D"])
def test_complex_transform(kind: str) -> None:
    check(lambda a, b: parts_of(getattr(raw, kind)(input=tf.complex(a, b))), PARTS, atol=1e-4)


@pytest.mark.parametrize(("kind", "axes"), [("RFFT", 1), ("RFFT2D", 2), ("RFFT3D", 3)])
@pytest.mark.parametrize("change", [0, -1])
def test_real_transform(kind: str, axes: int, change: int) -> None:
    """The length of the signal is its own, or less of it is taken."""
    lengths = [size + change for size in PARTS["a"].shape[-axes:]]
    check(lambda a: parts_of(getattr(raw, kind)(input=a, fft_length=lengths)), {"a": PARTS["a"]}, atol=1e-4)


@pytest.mark.parametrize("change", [0, -1])
def test_real_transform_of_a_computed_length(change: int) -> None:
    lengths = np.array([size + change for size in PARTS["a"].shape[-2:]], np.int32)
    inputs = {"a": PARTS["a"], "lengths": lengths}
    check(lambda a, lengths: parts_of(raw.RFFT2D(input=a, fft_length=lengths)), inputs, atol=1e-4)


@pytest.mark.parametrize(("kind", "axes"), [("IRFFT", 1), ("IRFFT2D", 2), ("IRFFT3D", 3)])
@pytest.mark.parametrize("length", [8, 7])
def test_inverse_real_transform(kind: str, axes: int, length: int) -> None:
    lengths = [*PARTS["a"].shape[-axes:-1], length]
    # TensorFlow itself does not initialize its result where it cuts off volumes.
    expected = np.fft.irfftn(PARTS["a"] + 1j * PARTS["b"], lengths, range(-axes, 0)).astype(np.float32)
    check(lambda a, b: getattr(raw, kind)(input=tf.complex(a, b), fft_length=lengths), PARTS, atol=1e-4, expected=[expected])


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("length", [8, 7, 4])
def test_inverse_real_transform_of_a_computed_length(axes: int, length: int) -> None:
    lengths = np.array([*PARTS["a"].shape[-axes:-1], length], np.int32)
    expected = np.fft.irfftn(PARTS["a"] + 1j * PARTS["b"], lengths.tolist(), range(-axes, 0)).astype(np.float32)
    kind = ("IRFFT", "IRFFT2D", "IRFFT3D")[axes - 1]
    inputs = {**PARTS, "n": lengths}
    check(lambda a, b, n: getattr(raw, kind)(input=tf.complex(a, b), fft_length=n), inputs, atol=1e-4, expected=[expected], fixed=["n"])


def test_short_time_transform() -> None:
    """A composition as `tf.signal` makes it."""
    check(lambda a: tf.abs(tf.signal.stft(a, 8, 4, 16)), {"a": normal(2, 40)}, atol=1e-4, forms=("static",))


def test_parts_of_complex_numbers() -> None:
    def parts(a: tf.Tensor, b: tf.Tensor) -> tuple[tf.Tensor, ...]:
        number = raw.Complex(real=a, imag=b)
        return (*parts_of(raw.Conj(input=number)), raw.ComplexAbs(x=number), raw.Angle(input=number))

    check(parts, PARTS, atol=1e-4)


def test_parts_that_broadcast() -> None:
    check(lambda a, b: parts_of(raw.Complex(real=a, imag=b)), {"a": normal(2, 3, 1), "b": normal(3, 4)}, forms=("static",))


def test_cosine_transform() -> None:
    x = np.random.default_rng(3).normal(size=(3, 8)).astype(np.float32)
    check(lambda x: tf.signal.dct(x), {"x": x}, forms=("static", "dynamic"))
    check(lambda x: tf.math.real(tf.exp(tf.complex(x, 2 * x))), {"x": x}, forms=("static", "dynamic"))


# Kinds of which TensorFlow has no kernel on the CPU: the expected numbers are those of numpy

NUMBER = PARTS["a"] + 1j * PARTS["b"]


def both_parts(number: Array) -> list[Array]:
    return [number.real.astype(np.float32), number.imag.astype(np.float32)]


@pytest.mark.parametrize("axes", [[1, 2], [-1, 0], [3]])
@pytest.mark.parametrize("change", [0, -1, 2])
def test_transform_of_axes(axes: list[int], change: int) -> None:
    """The transformed parts are cut, or filled with zeros."""
    lengths = [NUMBER.shape[axis] + change for axis in axes]
    for kind, transform in (("FFTND", np.fft.fftn), ("IFFTND", np.fft.ifftn)):
        expected = both_parts(transform(NUMBER, lengths, axes))
        function = getattr(raw, kind)
        check(
            lambda a, b, function=function: parts_of(function(input=tf.complex(a, b), fft_length=lengths, axes=axes)),
            PARTS,
            atol=1e-4,
            expected=expected,
            forms=("static", "dynamic"),
        )


@pytest.mark.parametrize("axes", [[1, 2], [-1, 0], [3]])
@pytest.mark.parametrize("change", [0, -1, 2])
def test_real_transform_of_axes(axes: list[int], change: int) -> None:
    lengths = np.array([PARTS["a"].shape[axis] + change for axis in axes], np.int32)
    expected = both_parts(np.fft.rfftn(PARTS["a"], lengths.tolist(), axes))
    options = {"atol": 1e-4, "forms": ("static", "dynamic")}
    check(lambda a: parts_of(raw.RFFTND(input=a, fft_length=lengths, axes=axes)), {"a": PARTS["a"]}, expected=expected, **options)
    check(
        lambda a, lengths: parts_of(raw.RFFTND(input=a, fft_length=lengths, axes=axes)),
        {"a": PARTS["a"], "lengths": lengths},
        expected=expected,
        fixed=("lengths",),
        **options,
    )
    # The numbers are those of a real signal.
    inverse = np.fft.irfftn(NUMBER, lengths.tolist(), axes).astype(np.float32)
    check(
        lambda a, b: raw.IRFFTND(input=tf.complex(a, b), fft_length=lengths, axes=axes, Treal=tf.float32),
        PARTS,
        expected=[inverse],
        **options,
    )


def test_computed_axes_are_refused() -> None:
    with pytest.raises(ConversionError, match="axes are computed"):
        check(
            lambda a, axes: raw.RFFTND(input=a, fft_length=[4], axes=axes),
            {"a": PARTS["a"], "axes": np.array([1], np.int32)},
            expected=[],
            forms=("static",),
        )
