"""A user converts a speech model that computes its own spectrogram by torch.stft, or sound from one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.numerical.onnx.exported_graphs import ExportedGraph, check
from tests.numerical.runtime import Array

RANDOM = np.random.default_rng(0)
WINDOW = np.hanning(16).astype(np.float32)


def random(*shape: int) -> Array:
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


@pytest.mark.parametrize("onesided", [1, 0])
def test_spectrogram(tmp_path: Path, onesided: int) -> None:
    """The signal has no dimension of real and imaginary parts: [batch, samples]."""
    graph = ExportedGraph()
    spectrum = graph.node("STFT", "x", graph.constant(4), graph.weight(WINDOW), graph.constant(16), onesided=onesided)
    graph.node("Transpose", spectrum, result="y", perm=[0, 2, 1, 3])
    check(graph.model({"x": (np.float32, ["batch", "samples"])}, ["y"]), [{"x": random(1, 64)}, {"x": random(2, 100)}], tmp_path, atol=1e-4)


def test_spectrogram_of_one_signal(tmp_path: Path) -> None:
    graph = ExportedGraph()
    batch = graph.node("Unsqueeze", "x", graph.constant([0]))
    spectrum = graph.node("STFT", batch, graph.constant(4), graph.weight(WINDOW), graph.constant(16), onesided=1)
    graph.node("Squeeze", graph.node("Transpose", spectrum, perm=[0, 2, 1, 3]), graph.constant([0]), result="y")
    check(graph.model({"x": (np.float32, ["samples"])}, ["y"]), [{"x": random(64)}, {"x": random(80)}], tmp_path, atol=1e-4)


def test_mel_features(tmp_path: Path) -> None:
    graph = ExportedGraph()
    padded = graph.node("Pad", "x", graph.constant([0, 8, 0, 8]), mode="reflect")
    spectrum = graph.node("STFT", padded, graph.constant(4), graph.weight(WINDOW), graph.constant(16), onesided=1)
    power = graph.node("ReduceSumSquare", spectrum, axes=[3], keepdims=0)
    mel = graph.node("MatMul", power, graph.weight(np.abs(random(9, 5))))
    graph.node("Log", graph.node("Clip", mel, graph.constant(1e-5, np.float32)), result="y")
    check(graph.model({"x": (np.float32, ["batch", "samples"])}, ["y"]), [{"x": random(1, 64)}, {"x": random(2, 100)}], tmp_path, atol=1e-4)


def test_sound_of_a_spectrogram(tmp_path: Path) -> None:
    """The frames are added where they overlap."""
    graph = ExportedGraph()
    frames = graph.node("DFT", "x", graph.constant(8), axis=1, inverse=1)
    real = graph.node("Slice", frames, graph.constant([0]), graph.constant([1]), graph.constant([3]))
    real = graph.node("Squeeze", real, graph.constant([3]))
    graph.node("ConvTranspose", real, graph.weight(np.eye(8, dtype=np.float32)[:, None]), result="y", strides=[4])
    inputs = [{"x": random(1, 8, 5, 2)}, {"x": random(2, 8, 3, 2)}]
    check(graph.model({"x": (np.float32, ["batch", 8, "frames", 2])}, ["y"]), inputs, tmp_path)
