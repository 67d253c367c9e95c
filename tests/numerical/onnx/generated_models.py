"""Models of full size with random weights, built node by node."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class GraphWriter:
    """Collects the nodes and weights of a model.

    Args:
        seed: of the random weights.
    """

    def __init__(self, seed: int = 0) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[TensorProto] = []

    def add(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> str:
        """Append a node; the name of its first output. Of several outputs the names end in `:1`, `:2`, …"""
        name = f"{kind}_{len(self.nodes)}"
        names = [name, *(f"{name}:{index}" for index in range(1, outputs))]
        self.nodes.append(helper.make_node(kind, inputs, names, name, **attributes))
        return name

    def array(self, value: np.ndarray) -> str:
        """Append an initializer; its name."""
        name = f"weight_{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(value, name))
        return name

    def normal(self, *shape: int, scale: float = 1.0, mean: float = 0.0) -> str:
        """Append an initializer of normally distributed f32 numbers."""
        return self.array(self.random.standard_normal(shape, dtype=np.float32) * np.float32(scale) + np.float32(mean))

    def integers(self, *values: int) -> str:
        """Append an initializer of i64 numbers."""
        return self.array(np.array(values, np.int64))

    def model(self, inputs: Sequence[onnx.ValueInfoProto], outputs: Sequence[str], opset: int) -> onnx.ModelProto:
        """The model of what was collected."""
        results = [helper.make_empty_tensor_value_info(name) for name in outputs]
        graph = helper.make_graph(self.nodes, "generated", inputs, results, self.initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def resnet50() -> onnx.ModelProto:
    """ResNet-50 with batch normalisation, 25 million weights: `image` [N, 3, H, W] -> [N, 1000]."""
    graph = GraphWriter()

    def convolution(x: str, inputs: int, outputs: int, size: int, stride: int = 1, gain: float = 1.0) -> str:
        weight = graph.normal(outputs, inputs, size, size, scale=(2 / (inputs * size * size)) ** 0.5)
        pads = [size // 2] * 4
        x = graph.add("Conv", x, weight, kernel_shape=[size, size], strides=[stride, stride], pads=pads)
        scale, offset, mean = (
            graph.normal(outputs, scale=0.1, mean=gain),
            graph.normal(outputs, scale=0.1),
            graph.normal(outputs, scale=0.1),
        )
        variance = graph.array(graph.random.uniform(0.8, 1.2, outputs).astype(np.float32))
        return graph.add("BatchNormalization", x, scale, offset, mean, variance, epsilon=1e-5)

    x = graph.add("Relu", convolution("image", 3, 64, 7, 2))
    x = graph.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = 64
    for stage, depth in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for index in range(depth):
            stride = 2 if stage and not index else 1
            y = graph.add("Relu", convolution(x, channels, width, 1))
            y = graph.add("Relu", convolution(y, width, width, 3, stride))
            y = convolution(y, width, 4 * width, 1, gain=0.2)
            x = x if index else convolution(x, channels, 4 * width, 1, stride)
            x, channels = graph.add("Relu", graph.add("Add", y, x)), 4 * width
    x = graph.add("Flatten", graph.add("GlobalAveragePool", x), axis=1)
    logits = graph.add("Gemm", x, graph.normal(1000, channels, scale=0.02), graph.normal(1000), transB=1)
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 3, "height", "width"])
    return graph.model([image], [logits], 13)


def bert(layers: int = 4, width: int = 768, words: int = 2000, places: int = 64) -> onnx.ModelProto:
    """Encoder of BERT's size: `tokens` and `mask` [N, L] -> [N, L, width]. Shapes are computed from those of the inputs."""
    graph = GraphWriter()
    heads = width // 64

    def dense(x: str, inputs: int, outputs: int) -> str:
        return graph.add(
            "Add", graph.add("MatMul", x, graph.normal(inputs, outputs, scale=inputs**-0.5)), graph.normal(outputs, scale=0.02)
        )

    def norm(x: str) -> str:
        offset, scale = graph.normal(width, scale=0.02), graph.normal(width, scale=0.02, mean=1)
        return graph.add("LayerNormalization", x, scale, offset, axis=-1, epsilon=1e-12)

    def gelu(x: str) -> str:
        error = graph.add("Erf", graph.add("Div", x, graph.array(np.float32(2**0.5))))
        shifted = graph.add("Add", error, graph.array(np.float32(1)))
        return graph.add("Mul", graph.add("Mul", x, shifted), graph.array(np.float32(0.5)))

    def split_heads(x: str, order: Sequence[int]) -> str:
        target = graph.add("Concat", graph.add("Slice", shape, graph.integers(0), graph.integers(2)), graph.integers(heads, 64), axis=0)
        return graph.add("Transpose", graph.add("Reshape", x, target), perm=order)

    shape = graph.add("Shape", "tokens")
    length = graph.add("Gather", shape, graph.array(np.array(1, np.int64)), axis=0)
    positions = graph.add("Range", graph.array(np.array(0, np.int64)), length, graph.array(np.array(1, np.int64)))
    words_table, places_table = graph.normal(words, width), graph.normal(places, width)
    x = norm(graph.add("Add", graph.add("Gather", words_table, "tokens"), graph.add("Gather", places_table, positions)))
    mask = graph.add("Cast", graph.add("Unsqueeze", "mask", graph.integers(1, 2)), to=TensorProto.FLOAT)
    bias = graph.add("Mul", graph.add("Sub", graph.array(np.float32(1)), mask), graph.array(np.float32(-10000)))
    for _ in range(layers):
        query, key, value = (split_heads(dense(x, width, width), order) for order in ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3)))
        scores = graph.add("Div", graph.add("MatMul", query, key), graph.array(np.float32(8)))
        weights = graph.add("Softmax", graph.add("Add", scores, bias), axis=-1)
        attended = graph.add("Transpose", graph.add("MatMul", weights, value), perm=[0, 2, 1, 3])
        attended = graph.add("Reshape", attended, graph.integers(0, 0, width))
        x = norm(graph.add("Add", x, dense(attended, width, width)))
        x = norm(graph.add("Add", x, dense(gelu(dense(x, width, 4 * width)), 4 * width, width)))
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in ("tokens", "mask")]
    return graph.model(inputs, [x], 17)


def chain(length: int) -> onnx.ModelProto:
    """A chain of small layers with a branch in each: `x` [N, 16] -> [N, 16]."""
    graph = GraphWriter()
    x = "x"
    for _ in range(length // 5):
        y = graph.add("MatMul", x, graph.normal(16, 16, scale=0.2))
        y = graph.add("Tanh", graph.add("Add", y, graph.normal(16, scale=0.1)))
        x = graph.add("Add", y, graph.add("Sigmoid", x))
    return graph.model([helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 16])], [x], 17)


def save_with_external_data(model: onnx.ModelProto, path: Path) -> None:
    """Write a model whose weights are in the file `weights.bin` beside it."""
    onnx.save(model, path, save_as_external_data=True, location="weights.bin", size_threshold=1024)
