"""A user's model has weights with a scale for each channel, along whichever axis the quantizer put them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from onnx import TensorProto, helper

from tests.numerical.onnx.exported_graphs import ExportedGraph, check
from tests.numerical.processors import NEEDS_WIDE_SUMS
from tests.numerical.runtime import Array

RANDOM = np.random.default_rng(0)


def random(*shape: int) -> Array:
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def integers(*shape: int) -> Array:
    return RANDOM.integers(-127, 127, shape).astype(np.int8)


@NEEDS_WIDE_SUMS
def test_transposed_convolution(tmp_path: Path) -> None:
    """The channels of its result are axis 1 of the weights, and axis 0 of the bias, in 32 bits."""
    graph, scales = ExportedGraph(), np.abs(random(4)) * 0.01 + 0.001
    weights = graph.node(
        "DequantizeLinear", graph.weight(integers(3, 4, 3, 3)), graph.weight(scales), graph.weight(np.zeros(4, np.int8)), axis=1
    )
    step, zero = graph.weight(np.float32(0.02)), graph.weight(np.uint8(128))
    data = graph.node("DequantizeLinear", graph.node("QuantizeLinear", "x", step, zero), step, zero)
    offsets = graph.weight(RANDOM.integers(-500, 500, 4).astype(np.int32))
    bias = graph.node("DequantizeLinear", offsets, graph.weight(scales * np.float32(0.02)), graph.weight(np.zeros(4, np.int32)), axis=0)
    graph.node("ConvTranspose", data, weights, bias, result="y", strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1])
    check(graph.model({"x": (np.float32, ["batch", 3, "h", "w"])}, ["y"]), [{"x": random(1, 3, 5, 6)}], tmp_path, atol=1e-4)


def test_transposed_weights(tmp_path: Path) -> None:
    """Transpositions stand on both sides of the DequantizeLinear."""
    graph = ExportedGraph()
    turned = graph.node("Transpose", graph.weight(integers(8, 6)), perm=[1, 0])
    scales, zeros = graph.weight(np.abs(random(6)) * 0.01 + 0.001), graph.weight(np.zeros(6, np.int8))
    weights = graph.node("Transpose", graph.node("DequantizeLinear", turned, scales, zeros, axis=0), perm=[1, 0])
    graph.node("MatMul", "x", weights, result="y")
    check(graph.model({"x": (np.float32, ["batch", 8])}, ["y"]), [{"x": random(3, 8)}], tmp_path)


def test_blocks_of_four_bits(tmp_path: Path) -> None:
    graph = ExportedGraph()
    weights = graph.weight(helper.make_tensor("w", TensorProto.INT4, [8, 6], RANDOM.integers(-8, 7, 48).tolist()))
    scales = graph.weight(np.abs(random(2, 6)) * 0.1)
    graph.node("MatMul", "x", graph.node("DequantizeLinear", weights, scales, axis=0, block_size=4), result="y")
    check(graph.model({"x": (np.float32, ["batch", 8])}, ["y"], opset=21), [{"x": random(3, 8)}], tmp_path)


@NEEDS_WIDE_SUMS
def test_dynamic_quantization(tmp_path: Path) -> None:
    """As quantize_dynamic writes a linear layer with a scale for each column."""
    graph = ExportedGraph()
    data, scale, zero = graph.several("DynamicQuantizeLinear", 3, "x")
    product = graph.node("MatMulInteger", data, graph.weight(integers(8, 6)), zero, graph.weight(np.zeros(6, np.int8)))
    scales = graph.node("Mul", scale, graph.weight(np.abs(random(6)) * 0.01))
    scaled = graph.node("Mul", graph.node("Cast", product, to=TensorProto.FLOAT), scales)
    graph.node("Add", scaled, graph.weight(random(6)), result="y")
    check(graph.model({"x": (np.float32, ["batch", "steps", 8])}, ["y"]), [{"x": random(2, 3, 8)}], tmp_path, atol=1e-4)
