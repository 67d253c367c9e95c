"""Fourier transforms and spectrograms of TensorFlow, drawn."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tests.fuzz.draw import Draw
from tests.fuzz.tensorflow.recipe import NO_TYPE, Node, recipe

COMPLEX = np.dtype(np.complex64)


def transformed(draw: Draw, dtype: np.dtype[Any], count: int) -> Node:
    """Complex numbers, transformed along their last dimensions."""
    del dtype
    return Node({"input": draw.array(COMPLEX, [*draw.filled(0, 1), *draw.integers(count, 1, 5)])})


def real_transformed(draw: Draw, dtype: np.dtype[Any], count: int) -> Node:
    """Real numbers, of which as many as a length says are transformed."""
    lengths = draw.integers(count, 1, 6)
    sizes = [length + (draw.integer(0, 2) if draw.chance(0.3) else 0) for length in lengths]
    data = draw.array(dtype, [*draw.filled(0, 1), *sizes], special=0.0)
    return Node({"input": data, "fft_length": np.array(lengths, np.int32)}, {}, ("fft_length",))


def real_inverse(draw: Draw, dtype: np.dtype[Any], count: int) -> Node:
    """The numbers are those of a real signal: of others the imaginary parts of the first and the middle one mean nothing."""
    lengths = draw.integers(count, 1, 6)
    signal = draw.array(dtype, [*draw.filled(0, 1), *lengths], special=0.0)
    numbers = np.fft.rfftn(signal, axes=tuple(range(-count, 0))).astype(COMPLEX)
    return Node({"input": numbers, "fft_length": np.array(lengths, np.int32)}, {}, ("fft_length",))


for dimensions, suffix in enumerate(("", "2D", "3D"), start=1):
    recipe(f"FFT{suffix} IFFT{suffix}", NO_TYPE)(partial(transformed, count=dimensions))
    recipe(f"RFFT{suffix}", NO_TYPE)(partial(real_transformed, count=dimensions))
    recipe(f"IRFFT{suffix}", NO_TYPE)(partial(real_inverse, count=dimensions))


@recipe("AudioSpectrogram", NO_TYPE)
def spectrogram(draw: Draw, dtype: np.dtype[Any]) -> Node:
    size = draw.integer(2, 40)
    sound = draw.array(dtype, [size + draw.integer(0, 90), draw.integer(1, 2)], special=0.0)
    attributes = {"window_size": size, "stride": draw.integer(1, 30), "magnitude_squared": draw.chance(0.5)}
    return Node({"input": sound}, attributes)


@recipe("Mfcc", NO_TYPE)
def coefficients(draw: Draw, dtype: np.dtype[Any]) -> Node:
    """The energies are of a size at which their logarithms are exact enough to be compared."""
    rate, channels = draw.one_of((8000, 16000, 44100)), draw.integer(1, 40)
    squares = draw.random.uniform(0.5, 4, [draw.integer(1, 2), *draw.integers(2, 3, 300)]).astype(dtype)
    low = draw.integer(0, 500)
    attributes = {
        "lower_frequency_limit": float(low),
        "upper_frequency_limit": float(draw.integer(low + 1, 4000)),
        "filterbank_channel_count": channels,
        "dct_coefficient_count": draw.integer(1, channels),
    }
    return Node({"spectrogram": squares, "sample_rate": np.array(rate, np.int32)}, attributes, ("sample_rate",), fixed=("spectrogram",))
