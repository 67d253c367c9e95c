"""Preprocessing layers: statistics, categories, vocabularies.

    %y = keras.IntegerLookup(%x) {vocabulary = [3, 5, 1]}
->  the index of each number in the vocabulary, after the indices for values outside of it
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import INTEGER_TYPES, f32, si32, si64
from moir.dialects.frameworks.structures import structure_of
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.expansions.lookups import number_position, selected_string, string_position
from moir.expansions.strings.hashes import bins
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.attributes import Arguments, axis_list, variables
from moir.lowering.keras.policies import computed_type, counted_type, weighted_type
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder

EPSILON = 1e-7
"""Keras' smallest standard deviation."""


@keras.lowers("Normalization")
def normalization(
    node: LoweringNode,
    op: OpBuilder,
    inputs: SSAValue,
    *,
    axis: object | None = None,
    mean: object | None = None,
    variance: object | None = None,
    invert: bool = False,
) -> SSAValue:
    """keras.Normalization(x, mean, variance) {axis, invert} -> (x - mean) / max(sqrt(variance), epsilon)"""
    element, rank = computed_type(node), node.known_rank(0)
    weights = variables(node)
    if mean is not None and variance is not None:
        values = [op.constant(np.asarray(each, np.float32), f32) for each in (mean, variance)]
    elif len(weights) >= 2:
        values = weights[:2]
    else:
        node.fail("its mean and variance are not in the file", hint="adapt the layer before the model is saved")
    axes = sorted(axis_list(node, axis, rank)) if axis is not None else []
    if axis is None or axes != list(range(rank - len(axes), rank)):
        shape = [(node.shape(0) or ())[each] if each in axes else 1 for each in range(rank)]
        if min(shape) < 1:
            node.fail("the sizes of its axes are dynamic")
        if not axes or all((rank_of(each) or 0) > 0 for each in values):
            values = [op.Reshape(each, shape, special_zero=False) if axes or rank_of(each) else each for each in values]
    average, spread = (op.convert(each, element) for each in values)
    deviation = op.Maximum(op.Sqrt(spread), EPSILON)
    data = op.convert(inputs, element)
    return op.Add(op.Multiply(data, deviation), average) if invert else op.Divide(op.Subtract(data, average), deviation)


@keras.lowers("Rescaling")
def rescaling(node: LoweringNode, op: OpBuilder, inputs: SSAValue, *, scale: object, offset: object = 0.0) -> SSAValue:
    """keras.Rescaling(x) {scale, offset} -> opset1.Add(opset1.Multiply(x, scale), offset)"""
    element = computed_type(node)
    data = op.convert(inputs, element)
    factor, shift = (op.constant_like(np.asarray(each, np.float32), data) for each in (scale, offset))
    result = op.Multiply(data, factor)
    return result if not np.any(np.asarray(offset)) else op.Add(result, shift)


# Categories


def encoded(
    node: LoweringNode, op: OpBuilder, indices: SSAValue, mode: str, depth: int, element: Attribute, weights: SSAValue | None = None
) -> SSAValue:
    """Indices below `depth` encoded along the last dimension: one_hot, multi_hot, or count, with an element type.

    `weights` are factors of counts. Raises ConversionError for another mode, or a dynamic rank.
    """
    if depth < 1 or depth > 1 << 20:
        node.fail(f"{depth} categories")
    shape, rank = shape_of(indices), rank_of(indices)
    if shape is None or rank is None:
        node.fail("the rank of its input is dynamic")
    if mode == "one_hot" and rank > 1 and shape[-1] == 1:
        indices = op.Squeeze(indices, [rank - 1])
    if rank == 0:
        indices = op.Unsqueeze(indices, [0])
    vectors = op.OneHot(indices, depth, op.constant(np.array(1, np.float32)), op.constant(np.array(0, np.float32)), axis=-1)
    # Keras reduces the second dimension, whatever the rank.
    reduced_axis = min(1, max(rank - 1, 0))
    match mode:
        case "one_hot":
            counts = vectors
        case "multi_hot":
            counts = op.ReduceMax(vectors, [reduced_axis], keep_dims=False)
        case "count":
            if weights is not None:
                vectors = op.Multiply(vectors, op.Unsqueeze(op.convert(weights, f32), [-1]))
            counts = op.ReduceSum(vectors, [reduced_axis], keep_dims=False)
        case _:
            node.fail(f"the output mode {mode!r} is not supported", hint="use int, one_hot, multi_hot or count")
    return op.convert(counts, element)


@keras.lowers("CategoryEncoding")
def category_encoding(node: LoweringNode, op: OpBuilder, inputs: SSAValue, *, num_tokens: int, output_mode: str = "multi_hot") -> SSAValue:
    """keras.CategoryEncoding(i) {num_tokens, output_mode} -> opset1.OneHot(i), reduced along the last dimension"""
    weights = Arguments(node, "inputs", "count_weights").optional("count_weights")
    return encoded(node, op, op.convert(inputs, si32), output_mode, num_tokens, computed_type(node), weights)


@keras.lowers("Discretization")
def discretization(
    node: LoweringNode, op: OpBuilder, inputs: SSAValue, *, bin_boundaries: object | None = None, output_mode: str = "int"
) -> SSAValue:
    """keras.Discretization(x) {bin_boundaries} -> opset3.Bucketize(x, boundaries) {with_right_bound = false}"""
    if bin_boundaries is None:
        node.fail("its boundaries are not in the file", hint="adapt the layer before the model is saved")
    boundaries = op.constant(np.asarray(bin_boundaries, np.float32))
    element = si64 if node.version < 3 else si32
    buckets = op.Bucketize(op.convert(inputs, f32), boundaries, with_right_bound=False, output_type=element)
    if output_mode == "int":
        return buckets
    return encoded(node, op, buckets, output_mode, np.asarray(bin_boundaries).size + 1, computed_type(node))


# Vocabularies


class Vocabulary:
    """The vocabulary of a lookup layer, and the index of its first entry.

    Args:
        node: the layer.
        mask: the token that stands for absent values; None if the layer has none.
        unknown: the token that stands for values not in the vocabulary.
    """

    def __init__(self, node: LoweringNode, mask: object, unknown: object) -> None:
        entries = list(vocabulary_of(node))
        special = [mask, unknown] if mask is not None else [unknown]
        # A vocabulary from an asset begins with the special entries.
        while entries and len(entries) > 1 and str(entries[0]) in {str(each) for each in special}:
            entries.pop(0)
        self.entries = entries
        self.mode = node.text("output_mode", "int")
        self.unknown_count = node.integer("num_oov_indices", 1)
        self.has_mask = mask is not None and self.mode == "int"
        self.first = self.unknown_count + self.has_mask

    @property
    def size(self) -> int:
        """The number of indices: those for the mask, for unknown values, and for each entry."""
        return self.first + len(self.entries)


def vocabulary_of(node: LoweringNode) -> Sequence[Any]:
    """The entries of the vocabulary of a layer. Raises ConversionError if the file does not have it."""
    attribute = node.op.properties.get("vocabulary")
    value = None if attribute is None else structure_of(attribute)
    if not isinstance(value, tuple) or not value:
        node.fail("its vocabulary is not in the file", hint="adapt the layer, or give it a vocabulary, before the model is saved")
    return cast("tuple[Any, ...]", value)


def check_salt(node: LoweringNode) -> None:
    """Raises ConversionError if a layer hashes with a salt."""
    if node.attribute("salt", None) is not None:
        node.fail(
            "a hash with a salt is SipHash, which is made of sums of 64 bits, which are not supported",
            hint="use the layer without a salt, or cut the model after it with --input",
        )


def _looked_up(
    node: LoweringNode, op: OpBuilder, inputs: SSAValue, vocabulary: Vocabulary, positions: SSAValue, masked: SSAValue | None
) -> SSAValue:
    """The result of a lookup layer.

    Args:
        node: the layer.
        op: the builder.
        inputs: the values.
        vocabulary: the vocabulary.
        positions: for each value its index in the entries of the vocabulary; -1 if it is not among them.
        masked: which values are absent; None if there is no mask.

    Raises ConversionError for a mode with weights that are not in the file.
    """
    if vocabulary.unknown_count > 1:
        if element_of(inputs) not in INTEGER_TYPES or node.text("oov_method", "floormod") != "floormod":
            check_salt(node)
            unknown = bins(op, inputs, vocabulary.unknown_count)
        else:
            unknown = op.FloorMod(op.convert(inputs, si64), op.constant(vocabulary.unknown_count))
        unknown = op.Add(unknown, int(vocabulary.has_mask))
    else:
        unknown = op.constant(int(vocabulary.has_mask) if vocabulary.unknown_count else -1)
    positions = op.convert(positions, si64)
    index = op.Select(op.Less(positions, 0), unknown, op.Add(positions, vocabulary.first))
    if masked is not None:
        # Counts and one-hot vectors have no element for the mask: OneHot ignores an index of -1.
        index = op.Select(masked, op.constant(0 if vocabulary.has_mask else -1), index)
    if vocabulary.mode == "int":
        return index
    depth = node.attribute("max_tokens", None) if node.flag("pad_to_max_tokens") else None
    if vocabulary.mode == "tf_idf":
        idf_weights = node.attribute("idf_weights", None)
        if not isinstance(idf_weights, tuple) or len(cast("tuple[object, ...]", idf_weights)) != len(vocabulary.entries):
            node.fail("the weights of its vocabulary are not in the file", hint="give them to the layer as idf_weights")
        weights = np.asarray(idf_weights, np.float32)
        # Values outside of the vocabulary have the mean weight.
        others = np.full(vocabulary.size - len(weights), weights.mean(), np.float32)
        counts = encoded(node, op, index, "count", vocabulary.size, f32)
        weighted = op.Multiply(counts, np.concatenate([others, weights]))
        missing = int(depth or vocabulary.size) - vocabulary.size
        rank = rank_of(weighted) or 1
        if missing > 0:
            weighted = op.Pad(weighted, [0] * rank, [0] * (rank - 1) + [missing], op.constant(0.0, f32), pad_mode="constant")
        return op.convert(weighted, weighted_type(node))
    return encoded(node, op, index, vocabulary.mode, int(depth or vocabulary.size), counted_type(node))


@keras.lowers("IntegerLookup")
def integer_lookup(
    node: LoweringNode, op: OpBuilder, inputs: SSAValue, *, mask_token: object | None = None, oov_token: object = -1, invert: bool = False
) -> SSAValue:
    """keras.IntegerLookup(x) {vocabulary} -> opset15.SearchSorted in the sorted vocabulary, opset8.Gather"""
    vocabulary = Vocabulary(node, mask_token, oov_token)
    try:
        keys = np.array([int(each) for each in vocabulary.entries], np.int64)
    except (TypeError, ValueError):
        node.fail("its vocabulary has entries that are not integers")
    data = op.convert(inputs, si64)
    if invert:
        special = [int(cast(Any, mask_token))] if vocabulary.has_mask else []
        table = np.concatenate([np.array([*special, *[int(cast(Any, oov_token))] * vocabulary.unknown_count], np.int64), keys])
        outside = op.LogicalOr(op.Less(data, 0), op.GreaterEqual(data, table.size))
        codes = op.Gather(op.constant(table), op.Clamp(data, min=0.0, max=float(table.size - 1)), 0)
        return op.Select(outside, op.constant(int(cast(Any, oov_token))), codes)
    order = np.argsort(keys, kind="stable")
    position, equal = number_position(op, data, keys[order], si64)
    index = op.Gather(op.constant(order.astype(np.int64)), position, 0)
    masked = None if mask_token is None else op.Equal(data, int(cast(Any, mask_token)))
    return _looked_up(node, op, inputs, vocabulary, op.Select(equal, index, op.constant(-1)), masked)


@keras.lowers("StringLookup")
def string_lookup(
    node: LoweringNode, op: OpBuilder, inputs: SSAValue, *, mask_token: str | None = None, oov_token: str = "[UNK]", invert: bool = False
) -> SSAValue:
    """keras.StringLookup(x) {vocabulary} -> the index of each string by a comparison with all of the vocabulary"""
    vocabulary = Vocabulary(node, mask_token, oov_token)
    keys = [str(each).encode() for each in vocabulary.entries]
    if invert:
        special = [cast(str, mask_token).encode()] if vocabulary.has_mask else []
        table = [*special, *[oov_token.encode()] * max(vocabulary.unknown_count, 1), *keys]
        data = op.convert(inputs, si64)
        outside = op.LogicalOr(op.Less(data, 0), op.GreaterEqual(data, len(table)))
        return selected_string(op, op.Select(outside, op.constant(int(vocabulary.has_mask)), data), table)
    positions = string_position(op, inputs, keys)
    masked = None if mask_token is None else op.GreaterEqual(string_position(op, inputs, [mask_token.encode()]), 0)
    return _looked_up(node, op, inputs, vocabulary, positions, masked)
