"""Fourier transforms and filters."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from tests.fuzz.draw import Draw
from tests.fuzz.signature import Required, Signature, Values, recipe


@recipe("DFT")
def transform(draw: Draw, signature: Signature) -> Values:
    real = draw.chance(0.5)
    shape = [draw.integer(1, 2), *draw.integers(draw.integer(1, 2), 1, 6), 1 if real else 2]
    axis = draw.integer(0, len(shape) - 2)
    inverse = int(draw.chance(0.3))
    onesided = int(real and not inverse and draw.chance(0.5))
    length = draw.integer(1, 8)
    return {
        "input": draw.array(signature.dtype("input"), shape, special=0),
        "dft_length": np.array(length, signature.dtype("dft_length")),
        "axis": np.array(axis, np.int64) if "axis" in signature.inputs else axis,
        "inverse": inverse,
        "onesided": onesided,
    }


@recipe("STFT")
def short_time(draw: Draw, signature: Signature) -> Values:
    length, frame = draw.integer(8, 16), draw.integer(2, 8)
    real = draw.chance(0.7)
    dtype, step = signature.dtype("signal"), signature.dtype("frame_step")
    return {
        "signal": draw.array(dtype, [draw.integer(1, 2), length, 1 if real else 2], special=0),
        "frame_step": draw.integer(1, 4),
        "window": Required(draw.positive(dtype, [frame])) if draw.chance(0.6) else None,
        "frame_length": Required(np.array(frame, step)),
        "onesided": int(real and draw.chance(0.7)),
    }


@recipe("MelWeightMatrix")
def mel(draw: Draw, signature: Signature) -> Values:
    return {
        "num_mel_bins": draw.integer(1, 8),
        "dft_length": draw.one_of((8, 16, 32)),
        "sample_rate": draw.one_of((8000, 16000)),
        "lower_edge_hertz": draw.one_of((0.0, 100.0)),
        "upper_edge_hertz": draw.one_of((4000.0, 3000.0)),
        "output_datatype": draw.one_of((TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)),
    }
