"""Random numbers of TensorFlow, drawn. What they are is not compared: their shape, their element type and their limits are."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from tests.fuzz.draw import Array, Draw
from tests.fuzz.tensorflow.recipe import Node, index_type, recipe


def within(low: float, high: float) -> Any:
    """1 for numbers in a range, 0 for others, in the element type of the numbers."""

    def compared(result: Any) -> Any:
        numbers = tf.cast(result, tf.float32)
        return tf.cast(tf.logical_and(numbers >= low, numbers <= high), result.dtype)

    return compared


def shape_operand(draw: Draw) -> Array:
    return np.array(draw.shape(0, 4), index_type(draw))


@recipe("RandomStandardNormal", "dtype")
def normal(draw: Draw, dtype: np.dtype[Any]) -> Node:
    attributes = {"dtype": tf.as_dtype(dtype), "seed": draw.integer(0, 9), "seed2": draw.integer(0, 9)}
    return Node({"shape": shape_operand(draw)}, attributes, ("shape",), compared=within(-9, 9))


@recipe("TruncatedNormal", "dtype")
def truncated(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = normal(draw, dtype)
    return Node(node.operands, node.attributes, node.structural, compared=within(-2.01, 2.01))


@recipe("RandomUniform", "dtype")
def uniform(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = normal(draw, dtype)
    return Node(node.operands, node.attributes, node.structural, compared=within(0, 1))


@recipe("RandomUniformInt", "Tout")
def whole(draw: Draw, dtype: np.dtype[Any]) -> Node:
    limits = {"minval": np.array(-3, dtype), "maxval": np.array(draw.integer(-2, 5), dtype)}
    return Node({"shape": shape_operand(draw), **limits}, {"seed": 3}, ("shape", *limits), compared=within(-3, 4))


@recipe("ParameterizedTruncatedNormal", "dtype")
def parameterized(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = np.array(draw.filled(1, 3), index_type(draw))
    rest = {name: np.array(value, dtype) for name, value in (("means", 1.0), ("stdevs", 0.5), ("minvals", 0.0), ("maxvals", 2.5))}
    return Node({"shape": shape, **rest}, {"seed": 3}, ("shape", *rest), compared=within(-0.01, 2.51))


@recipe("Multinomial")
def multinomial(draw: Draw, dtype: np.dtype[Any]) -> Node:
    logits = draw.array(dtype, draw.filled(2, 2), special=0.0)
    attributes = {"seed": 3, "output_dtype": draw.one_of((tf.int32, tf.int64))}
    count = np.array(draw.integer(1, 4), np.int32)
    return Node({"logits": logits, "num_samples": count}, attributes, ("num_samples",), compared=within(0, logits.shape[1] - 1))


@recipe("StatelessMultinomial")
def stateless_multinomial(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = multinomial(draw, dtype)
    operands = {**node.operands, "seed": np.array([1, 2], index_type(draw))}
    attributes = {"output_dtype": node.attributes["output_dtype"]}
    return Node(operands, attributes, (*node.structural, "seed"), compared=node.compared)


@recipe("RandomShuffle")
def shuffled(draw: Draw, dtype: np.dtype[Any]) -> Node:
    """Rows that are all equal are shuffled."""
    row = draw.array(dtype, draw.shape(0, 2), special=0.0)
    return Node({"value": np.repeat(row[None], draw.integer(1, 4), axis=0)}, {"seed": 3})


@recipe("StatelessRandomNormal", "dtype")
def stateless_normal(draw: Draw, dtype: np.dtype[Any]) -> Node:
    operands = {"shape": shape_operand(draw), "seed": np.array([3, 4], index_type(draw))}
    return Node(operands, {"dtype": tf.as_dtype(dtype)}, ("shape", "seed"), compared=within(-9, 9))


@recipe("StatelessTruncatedNormal", "dtype")
def stateless_truncated(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = stateless_normal(draw, dtype)
    return Node(node.operands, node.attributes, node.structural, compared=within(-2.01, 2.01))


@recipe("StatelessRandomUniform", "dtype")
def stateless_uniform(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = stateless_normal(draw, dtype)
    return Node(node.operands, node.attributes, node.structural, compared=within(0, 1))


@recipe("StatelessRandomUniformInt", "dtype")
def stateless_whole(draw: Draw, dtype: np.dtype[Any]) -> Node:
    limits = {"minval": np.array(-3, dtype), "maxval": np.array(draw.integer(-2, 5), dtype)}
    operands = {"shape": shape_operand(draw), "seed": np.array([3, 4], index_type(draw)), **limits}
    return Node(operands, {}, tuple(operands), compared=within(-3, 4))


def keyed(kind: str, **attributes: Any) -> Any:
    """A generator of the second version, with key and counter from a seed."""

    def function(shape: Any, seed: Any, **limits: Any) -> Any:
        key, counter = tf.raw_ops.StatelessRandomGetKeyCounter(seed=seed)
        algorithm = tf.raw_ops.StatelessRandomGetAlg()
        return getattr(tf.raw_ops, kind)(shape=shape, key=key, counter=counter, alg=algorithm, **limits, **attributes)

    return function


@recipe("StatelessRandomNormalV2", "dtype")
def keyed_normal(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = stateless_normal(draw, dtype)
    return Node(node.operands, {}, node.structural, None, keyed("StatelessRandomNormalV2", dtype=tf.as_dtype(dtype)), node.compared)


@recipe("StatelessTruncatedNormalV2", "dtype")
def keyed_truncated(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = stateless_truncated(draw, dtype)
    return Node(node.operands, {}, node.structural, None, keyed("StatelessTruncatedNormalV2", dtype=tf.as_dtype(dtype)), node.compared)


@recipe("StatelessRandomUniformV2", "dtype")
def keyed_uniform(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = stateless_uniform(draw, dtype)
    return Node(node.operands, {}, node.structural, None, keyed("StatelessRandomUniformV2", dtype=tf.as_dtype(dtype)), node.compared)


@recipe("StatelessRandomUniformIntV2", "dtype")
def keyed_whole(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = stateless_whole(draw, dtype)
    return Node(node.operands, {}, node.structural, None, keyed("StatelessRandomUniformIntV2"), node.compared)


@recipe("RandomGamma")
def gamma(draw: Draw, dtype: np.dtype[Any]) -> Node:
    operands = {"shape": shape_operand(draw), "alpha": draw.positive(dtype, draw.filled(0, 2))}
    return Node(operands, {"seed": 3}, ("shape",), compared=within(0, 40))


@recipe("StatelessRandomUniformFullInt", "dtype")
def all_integers(draw: Draw, dtype: np.dtype[Any]) -> Node:
    operands = {"shape": shape_operand(draw), "seed": np.array([3, 4], index_type(draw))}
    return Node(operands, {"dtype": tf.as_dtype(dtype)}, tuple(operands), compared=within(-(2.0**31), 2.0**31))
