"""Small models that compute in f32 and not in f16, each with inputs that show it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Array = NDArray[np.float32]


class OverflowingModel(NamedTuple):
    """A model and its inputs, the name of the node whose result is wrong in f16, and the kind of the finding."""

    model: onnx.ModelProto
    inputs: Mapping[str, Array]
    node: str
    kind: str


def _model(nodes: list[onnx.NodeProto], inputs: Mapping[str, Array], weights: Mapping[str, Array], rank: int) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "overflowing",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape) for name, array in inputs.items()],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * rank)],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _node(kind: str, inputs: str, output: str, **attributes: object) -> onnx.NodeProto:
    return helper.make_node(kind, inputs.split(), [output], output, **attributes)  # pyright: ignore[reportArgumentType]


def _normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def t5_feed_forward() -> OverflowingModel:
    """The second product of T5's feed-forward is beyond f16; the norm of the next block brings it back."""
    x = _normal(1, 4, 16)
    weights = {
        "wi": _normal(16, 64, seed=1) * 20,
        "wo": _normal(64, 16, seed=2) * 300,
        "two": np.float32(2),
        "epsilon": np.float32(1e-6),
        "head": _normal(16, 8, seed=3),
    }
    nodes = [
        _node("MatMul", "x wi", "wi_x"),
        _node("Relu", "wi_x", "activation"),
        _node("MatMul", "activation wo", "wo_x"),
        _node("Add", "x wo_x", "residual"),
        _node("Pow", "residual two", "squares"),
        _node("ReduceMean", "squares", "mean", axes=[-1]),
        _node("Add", "mean epsilon", "shifted"),
        _node("Sqrt", "shifted", "root"),
        _node("Div", "residual root", "normal"),
        _node("MatMul", "normal head", "y"),
    ]
    weights = {name: np.asarray(array, np.float32) for name, array in weights.items()}
    return OverflowingModel(_model(nodes, {"x": x}, weights, 3), {"x": x}, "wo_x", "overflow")


def variance() -> OverflowingModel:
    """A layer normalization of large activations: the squares of what is above the mean are beyond f16."""
    x = _normal(2, 32) * 2000
    weights = {"scale": np.ones(32, np.float32), "bias": np.zeros(32, np.float32)}
    nodes = [_node("LayerNormalization", "x scale bias", "norm", epsilon=1e-5), _node("Relu", "norm", "y")]
    return OverflowingModel(_model(nodes, {"x": x}, weights, 2), {"x": x}, "norm", "overflow inside")


def attention_scores() -> OverflowingModel:
    """The scores of an attention whose scale is large are beyond f16, in which the softmax is of infinities."""
    x = _normal(1, 2, 8, 16)
    weights = {"wq": _normal(16, 16, seed=1) * 40, "scale": np.asarray(64, np.float32)}
    nodes = [
        _node("MatMul", "x wq", "query"),
        _node("Transpose", "query", "key", perm=[0, 1, 3, 2]),
        _node("MatMul", "query key", "scores"),
        _node("Mul", "scores scale", "scaled"),
        _node("Softmax", "scaled", "probabilities", axis=-1),
        _node("MatMul", "probabilities x", "y"),
    ]
    return OverflowingModel(_model(nodes, {"x": x}, weights, 4), {"x": x}, "scores", "overflow inside")


def masked_softmax() -> OverflowingModel:
    """A softmax over the sum of two masks, as language models have one for order and one for padding.

    In f32, a row in which everything is masked has equal probabilities; in f16 its scores are minus infinity.
    """
    x, padding = _normal(1, 4, 4), np.asarray([[[1], [0], [0], [0]]], np.float32)
    low = np.float32(-1e38)
    weights = {"low": np.asarray(low), "mask": np.triu(np.full((4, 4), low))}
    nodes = [
        _node("Mul", "padding low", "padding_mask"),
        _node("Add", "x mask", "masked"),
        _node("Add", "masked padding_mask", "scores"),
        _node("Softmax", "scores", "y", axis=-1),
    ]
    inputs = {"x": x, "padding": padding}
    return OverflowingModel(_model(nodes, inputs, weights, 3), inputs, "scores", "overflow")


def linear_attention() -> OverflowingModel:
    """Sana's linear attention divides by a sum to which 1e-15 is added: 0 in f16, and 0 / 0 for a row of zeros."""
    q, k, v = (_normal(1, 8, 4, seed=seed) for seed in range(3))
    q[0, 2] = -1
    nodes = [
        _node("Relu", "q", "queries"),
        _node("Relu", "k", "keys"),
        _node("Transpose", "keys", "keys_t", perm=[0, 2, 1]),
        _node("MatMul", "keys_t v", "context"),
        _node("MatMul", "queries context", "weighted"),
        _node("ReduceSum", "keys axis", "total"),
        _node("Mul", "queries total", "products"),
        _node("ReduceSum", "products last", "normalizer"),
        _node("Add", "normalizer epsilon", "divisor"),
        _node("Div", "weighted divisor", "y"),
    ]
    inputs = {"q": q, "k": k, "v": v}
    model = _model(nodes, inputs, {"epsilon": np.asarray(1e-15, np.float32)}, 3)
    model.graph.initializer.extend(numpy_helper.from_array(np.asarray([each]), name) for name, each in (("axis", 1), ("last", -1)))
    return OverflowingModel(model, inputs, "y", "vanishes")


MODELS: Mapping[str, Callable[[], OverflowingModel]] = {
    each.__name__: each for each in (t5_feed_forward, variance, attention_scores, masked_softmax, linear_attention)
}
"""The models by name."""
