"""Losses and decoders of TensorFlow, drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.fuzz.draw import Draw
from tests.fuzz.tensorflow.recipe import NO_TYPE, Node, index_type, recipe


@recipe("SoftmaxCrossEntropyWithLogits")
def cross_entropy(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.filled(2, 2)
    labels = draw.positive(dtype, shape)
    return Node({"features": draw.array(dtype, shape, special=0.0), "labels": labels / labels.sum(1, keepdims=True)})


@recipe("SparseSoftmaxCrossEntropyWithLogits")
def sparse_cross_entropy(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(2, 2), special=0.0)
    return Node({"features": data, "labels": draw.between(index_type(draw), data.shape[:1], 0, data.shape[1] - 1)})


@recipe("CTCGreedyDecoder")
def greedy(draw: Draw, dtype: np.dtype[Any]) -> Node:
    steps, batch, classes = draw.integer(1, 6), draw.integer(1, 3), draw.integer(2, 4)
    data = draw.random.permutation(steps * batch * classes).reshape(steps, batch, classes).astype(dtype)
    return Node(
        {"inputs": data, "sequence_length": draw.between(np.int32, [batch], 1, steps)},
        {"merge_repeated": draw.chance(0.5), "blank_index": draw.one_of((-1, 0))},
    )


@recipe("CTCLoss", NO_TYPE)
def alignment_loss(draw: Draw, dtype: np.dtype[Any]) -> Node:
    steps, batch, classes = draw.integer(4, 7), draw.integer(1, 3), draw.integer(3, 5)
    sizes = draw.integers(batch, 1, 2)
    indices = np.array([[row, column] for row, size in enumerate(sizes) for column in range(size)], np.int64)
    labels = draw.between(np.int32, [len(indices)], 0, classes - 2)
    operands = {"inputs": draw.array(dtype, [steps, batch, classes], special=0.0), "labels_indices": indices, "labels_values": labels}
    return Node({**operands, "sequence_length": draw.between(np.int32, [batch], 4, steps)}, {}, (), 1)
