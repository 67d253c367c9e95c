"""Spectrograms of audio, and mel-frequency cepstral coefficients of spectrograms.

    %s = tf.AudioSpectrogram(%sound) {window_size = 480, stride = 160, magnitude_squared = true}
    %c = tf.Mfcc(%s, 16000) {filterbank_channel_count = 40, dct_coefficient_count = 13}
->  %f = opset9.RDFT(opset12.Pad(opset1.Multiply(opset8.Gather(%sound, frames), window), …), -1)
    %s = opset1.ReduceSum(opset1.Multiply(%f, %f), -1)
    %e = opset1.Log(opset1.Maximum(opset1.MatMul(opset1.Sqrt(%s), filters), 1e-12))
    %c = opset1.MatMul(%e, cosines)

Source: tensorflow/core/kernels/spectrogram.cc, mfcc_mel_filterbank.cc, mfcc_dct.cc and mfcc.cc.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.element_types import si64
from moir.dialects.shapes import shape_of
from moir.expansions.shape_values import dimension
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

LOWEST_ENERGY = 1e-12
"""The lower limit of energies before their logarithm is taken."""


@tf.lowers("AudioSpectrogram")
def spectrogram(
    node: LoweringNode, op: OpBuilder, input: SSAValue, *, window_size: int, stride: int, magnitude_squared: bool = False
) -> SSAValue:
    """tf.AudioSpectrogram(sound [samples, channels]) {window_size, stride, magnitude_squared = false}
    -> squares of opset9.RDFT of the frames, [channels, frames, frequencies]; their roots unless `magnitude_squared`

    A frame is weighted by a Hann window, and extended by zeros to a power of two.
    """
    if window_size < 2 or stride < 1:
        node.fail(f"windows of {window_size} samples that are {stride} apart do not exist")
    length = 1 << (window_size - 1).bit_length()
    lines = op.Transpose(input, [1, 0])
    frames = op.Gather(lines, _frames(op, lines, window_size, stride), 1)
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window_size) / window_size)
    frames = op.Multiply(frames, hann.astype(np.float32))
    if length > window_size:
        frames = op.Pad(frames, [0, 0, 0], [0, 0, length - window_size], None, pad_mode="constant")
    parts = op.RDFT(frames, [-1])
    squares = op.ReduceSum(op.Multiply(parts, parts), [-1], keep_dims=False)
    return squares if magnitude_squared else op.Sqrt(squares)


def _frames(op: OpBuilder, lines: SSAValue, size: int, stride: int) -> SSAValue:
    """The indices of the samples in each frame [frames, size], for all frames that lie within the sound.

    `lines` are the channels of the sound [channels, samples]; a frame begins `stride` samples after the one before.
    """
    samples = dimension(op, lines, 1)
    if isinstance(samples, int):
        starts = np.arange(max(0, (samples - size) // stride + 1)) * stride
        return op.constant(starts[:, np.newaxis] + np.arange(size))
    last = op.Add(op.Subtract(samples, size), 1)
    starts = op.Range(op.constant(0, si64), op.Maximum(last, 0), op.constant(stride, si64), output_type=si64)
    return op.Add(op.Unsqueeze(starts, [1]), np.arange(size))


@tf.lowers("Mfcc")
def coefficients(
    node: LoweringNode,
    op: OpBuilder,
    spectrogram: SSAValue,
    sample_rate: SSAValue,
    *,
    lower_frequency_limit: float = 20.0,
    upper_frequency_limit: float = 4000.0,
    filterbank_channel_count: int = 40,
    dct_coefficient_count: int = 13,
) -> SSAValue:
    """tf.Mfcc(squares, sample_rate) {frequency limits, filterbank_channel_count = 40, dct_coefficient_count = 13}
    -> opset1.MatMul(opset1.Log(opset1.MatMul(opset1.Sqrt(squares), filters)), cosines)
    """
    rate, shape = op.known.integers(sample_rate), shape_of(spectrogram)
    if rate is None or len(rate) != 1 or rate[0] < 1:
        node.fail(
            "its sample rate is not a positive constant",
            hint="give the sample rate a value: --input 'decoded:0,decoded:1->16000' for a node `decoded` that decodes the sound",
        )
    if shape is None or len(shape) != 3 or shape[2] < 2:
        node.fail("the number of frequencies is dynamic", hint="convert the spectrogram with the model")
    if not 0 <= lower_frequency_limit < upper_frequency_limit <= rate[0] / 2:
        limits = f"{lower_frequency_limit} and {upper_frequency_limit} Hz"
        node.fail(f"the limits of {limits} do not ascend from 0 to half of the sample rate {rate[0]}")
    if not 0 < dct_coefficient_count <= filterbank_channel_count:
        node.fail(f"{filterbank_channel_count} channels do not have {dct_coefficient_count} coefficients")
    filters = mel_filters(shape[2], rate[0], (lower_frequency_limit, upper_frequency_limit), filterbank_channel_count)
    energy = op.MatMul(op.Sqrt(spectrogram), filters.astype(np.float32))
    return op.MatMul(op.Log(op.Maximum(energy, LOWEST_ENERGY)), cosines(filterbank_channel_count, dct_coefficient_count).astype(np.float32))


def mel_filters(frequencies: int, rate: int, limits: Sequence[float], channels: int) -> Array:
    """The weight [frequencies, channels] of each frequency in each channel.

    The centers of the channels are evenly spaced on the mel scale, on which equal steps sound equally large. A
    frequency contributes to the two channels between whose centers it lies, with weights that decrease linearly with
    the distance from the center.
    """
    low, high = mel(np.array(limits))
    step = 0.5 * rate / (frequencies - 1)
    weights = np.zeros((frequencies, channels))
    edges = low + (high - low) / (channels + 1) * np.arange(channels + 2)
    for index in range(int(1.5 + limits[0] / step), min(int(limits[1] / step) + 1, frequencies)):
        position = mel(np.array(index * step))
        channel = int(np.searchsorted(edges[1 : channels + 1], position)) - 1
        share = (edges[channel + 2] - position) / (edges[channel + 2] - edges[channel + 1])
        if channel >= 0:
            weights[index, channel] += share
        if channel + 1 < channels:
            weights[index, channel + 1] += 1 - share
    return weights


def mel(frequency: Array) -> Array:
    """Frequencies in Hz on the mel scale."""
    return 1127 * np.log1p(frequency / 700)


def cosines(channels: int, count: int) -> Array:
    """The matrix [channels, count] of a discrete cosine transform, restricted to its first coefficients."""
    return np.sqrt(2 / channels) * np.cos(np.pi / channels * np.outer(np.arange(channels) + 0.5, np.arange(count)))
