"""Spectrograms of signals.

    %y = keras.MelSpectrogram(%x) {fft_length = 512, num_mel_bins = 64}
->  the magnitudes of opset15.STFT(%x, window), multiplied by the weights of frequencies on the mel scale, in decibel

    %y = keras.STFTSpectrogram(%x, %cosines, %sines) {mode = "magnitude"}
->  opset1.Convolution(%x, %cosines)² + opset1.Convolution(%x, %sines)², whose kernels are the windowed waves
"""

from __future__ import annotations

import math

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.element_types import f32, si64
from moir.dialects.shapes import shape_of
from moir.expansions.complex_numbers import angle_of
from moir.expansions.shape_values import all_axes, dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.attributes import is_channel_last, variables
from moir.lowering.keras.convolution import convolved, kernel_shape, window_of
from moir.lowering.keras.policies import computed_type
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder

WINDOWS = {"hann": (0.5, 0.5), "hamming": (0.54, 0.46)}
"""For each window, the coefficients a and b of a - b · cos."""


def periodic_window(node: LoweringNode, name: object, length: int, frame: int) -> Array:
    """A periodic Hann or Hamming window of `length` elements, padded with zeros on both sides to `frame`.

    The window is all ones if `name` is None. Raises ConversionError for another name.
    """
    if name is None:
        values = np.ones(length)
    elif name in WINDOWS:
        constant, factor = WINDOWS[str(name)]
        values = constant - factor * np.cos(2 * np.pi * np.arange(length) / length)
    else:
        node.fail(f"the window {name!r} does not exist", hint="use hann or hamming")
    before = (frame - length) // 2
    return np.pad(values, (before, frame - length - before)).astype(np.float32)


def mel(frequency: Array | float) -> Array:
    """Frequencies in Hz on the mel scale."""
    return 1127.0 * np.log1p(np.asarray(frequency) / 700.0)


def mel_weights(bins: int, channels: int, rate: float, low: float, high: float) -> Array:
    """The weight [bins, channels] of each frequency in each channel: triangles between neighbouring centers.

    The centers are evenly spaced on the mel scale; the frequency 0 has no weight.
    """
    frequencies = mel(np.linspace(0.0, rate / 2, bins))[1:, None]
    edges = np.linspace(mel(low), mel(high), channels + 2)
    first, center, last = edges[:-2], edges[1:-1], edges[2:]
    weights = np.minimum((frequencies - first) / (center - first), (last - frequencies) / (last - center))
    return np.pad(np.maximum(weights, 0.0), ((1, 0), (0, 0))).astype(np.float32)


@keras.lowers("MelSpectrogram")
def mel_spectrogram(
    node: LoweringNode,
    op: OpBuilder,
    inputs: SSAValue,
    *,
    fft_length: int = 2048,
    sequence_stride: int = 512,
    sequence_length: int = 0,
    window: object | None = None,
    sampling_rate: float = 16000,
    num_mel_bins: int = 128,
    min_freq: float = 20.0,
    max_freq: float = 0.0,
    power_to_db: bool = True,
    top_db: float = 80.0,
    mag_exp: float = 2.0,
    min_power: float = 1e-10,
    ref_power: float = 1.0,
) -> SSAValue:
    """keras.MelSpectrogram(x [N, L]) -> [N, channels, frames], of the signal reflected at both ends"""
    rank, length = node.known_rank(0), sequence_length or fft_length
    if rank not in (1, 2) or not 0 < length <= fft_length or sequence_stride < 1:
        node.fail(f"a signal of rank {rank} in frames of {length} of {fft_length}")
    half = fft_length // 2
    signal = op.convert(inputs, f32)
    signal = signal if rank == 2 else op.Unsqueeze(signal, [0])
    signal = op.Pad(signal, [0, half], [0, half], pad_mode="reflect")
    weights = op.constant(periodic_window(node, window, length, fft_length))
    spectrum = op.STFT(signal, weights, op.constant(fft_length, si64), op.constant(sequence_stride, si64), transpose_frames=False)
    energy = op.ReduceSum(op.Multiply(spectrum, spectrum), [-1], keep_dims=False)
    energy = energy if mag_exp == 2.0 else op.Power(op.Sqrt(energy), mag_exp)
    filters = mel_weights(half + 1, num_mel_bins, sampling_rate, min_freq, max_freq or sampling_rate / 2)
    spectrogram = op.MatMul(energy, filters)
    if power_to_db:
        decibel = 10.0 / math.log(10.0)
        reference = 10.0 * math.log10(max(abs(ref_power), min_power))
        spectrogram = op.Subtract(op.Multiply(op.Log(op.Maximum(spectrogram, min_power)), decibel), reference)
        largest = op.ReduceMax(spectrogram, all_axes(op, spectrogram), keep_dims=False)
        spectrogram = op.Maximum(spectrogram, op.Subtract(largest, top_db))
    spectrogram = op.convert(op.Transpose(spectrogram, [0, 2, 1]), computed_type(node))
    return spectrogram if rank == 2 else op.Squeeze(spectrogram, [0])


SMALLEST = 1e-7
"""The smallest number of which Keras takes a root or a logarithm."""


@keras.lowers("STFTSpectrogram")
def short_time_spectrogram(
    node: LoweringNode,
    op: OpBuilder,
    inputs: SSAValue,
    *,
    mode: str = "log",
    frame_length: int = 256,
    frame_step: int | None = None,
    padding: str = "valid",
    expand_dims: bool = False,
    data_format: str | None = None,
) -> SSAValue:
    """keras.STFTSpectrogram(x [N, T, C]) -> [N, frames, C · frequencies], or [N, frames, frequencies, C]

    With channels first [N, C, T] -> [N, C · frequencies, frames], or [N, C, frames, frequencies].
    """
    kernels, last = variables(node), is_channel_last(node, data_format)
    if len(kernels) != (1 if mode in ("real", "imag") else 2):
        node.fail(f"{len(kernels)} kernels for the mode {mode!r}")
    if node.known_rank(0) != 3:
        node.fail(f"its input has rank {node.rank(0)}, not 3")
    shape = kernel_shape(node, kernels[0], 1)
    window = window_of(node, 1, (frame_step or frame_length // 2,), (1,), padding, shape)
    channels = (shape_of(inputs) or (-1, -1, -1))[2 if last else 1]
    if channels < 1:
        node.fail("the number of its channels is dynamic")
    signal = op.transposed(inputs, [0, 2, 1]) if last else inputs
    steps = (shape_of(signal) or (-1, -1, -1))[2]
    if channels != 1:
        signal = op.Reshape(signal, [-1, 1, steps] if steps > 0 else [-1, 1, 0], special_zero=steps <= 0)
    parts = [convolved(op, signal, kernel, shape, 1, window) for kernel in kernels]
    # A part is [N · C, frequencies, frames].
    frequencies = shape[-1]
    match mode:
        case "real" | "imag":
            spectrogram = parts[0]
        case "angle":
            spectrogram = angle_of(op, parts[1], parts[0])
        case "stft":
            spectrogram, frequencies = op.Concat(*parts, axis=1), 2 * frequencies
        case "log" | "magnitude" | "psd":
            spectrogram = op.Add(op.Multiply(parts[0], parts[0]), op.Multiply(parts[1], parts[1]))
        case _:
            node.fail(f"the mode {mode!r} does not exist")
    if mode == "psd":
        # All frequencies but the first and the last one stand for their negatives, too.
        factors = np.full(frequencies, 2.0, np.float32)
        factors[[0, -1]] = 1.0
        spectrogram = op.Multiply(spectrogram, op.constant_like(factors.reshape(1, -1, 1), spectrogram))
    elif mode in ("log", "magnitude"):
        spectrogram = op.Sqrt(op.Maximum(spectrogram, SMALLEST))
        spectrogram = op.Log(op.Maximum(spectrogram, SMALLEST)) if mode == "log" else spectrogram
    if expand_dims:
        sizes = op.Concat([-1, channels, frequencies], dimension_list(op, spectrogram, 2), axis=0)
        apart = op.Reshape(spectrogram, sizes, special_zero=False) if channels != 1 else op.Unsqueeze(spectrogram, [1])
        return op.Transpose(apart, [0, 3, 2, 1] if last else [0, 1, 3, 2])
    if channels != 1:
        spectrogram = op.Reshape(spectrogram, [-1, channels * frequencies, 0], special_zero=True)
    return op.Transpose(spectrogram, [0, 2, 1]) if last else spectrogram
