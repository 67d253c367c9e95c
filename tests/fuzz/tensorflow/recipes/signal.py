"""Fourier transforms of TensorFlow, drawn."""

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
