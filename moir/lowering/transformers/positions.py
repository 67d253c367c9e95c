"""Lowering of position encodings: rotary embeddings, and rows of tables of learned positions."""

from __future__ import annotations

import math

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.element_types import f32, si64
from moir.expansions.causal_masks import query_indices
from moir.lowering.binder import LoweringNode
from moir.lowering.table import Replacement
from moir.lowering.transformers.frequencies import attention_factor, inverse_frequencies
from moir.lowering.transformers.table import transformers
from moir.rewriting.builder import OpBuilder


@transformers.lowers("RotaryEmbedding")
def rotary_embedding(
    node: LoweringNode, op: OpBuilder, positions: SSAValue, *, size: int, theta: float, scaling: str, divisors: tuple[float, ...] = ()
) -> Replacement:
    """transformers.RotaryEmbedding(positions) {size, theta, scaling, …}
    -> Cos and Sin of MatMul(frequencies, positions), twice in a row, times a factor: [batch, 1, tokens, size]

    Su et al., "RoFormer", 2021; the scalings as in `modeling_rope_utils.py` of transformers.
    """
    frequencies = _frequencies(node, op, positions, size, theta, scaling)
    if divisors:
        if len(divisors) != size // 2:
            node.fail(f"{len(divisors)} divisors for {size // 2} frequencies")
        frequencies = op.Divide(frequencies, op.constant(np.array(divisors, np.float32).reshape(1, -1, 1), f32))
    columns = op.Unsqueeze(op.Convert(positions, destination_type=f32), [1])
    angles = op.Transpose(op.MatMul(frequencies, columns), np.array([0, 2, 1]))
    both = op.Concat(angles, angles, axis=-1)
    factor = _factor(node, op, positions, scaling)
    rotated: list[SSAValue] = []
    for value in (op.Cos(both), op.Sin(both)):
        rotated.append(op.Unsqueeze(value if factor is None else op.Multiply(value, factor), [1]))
    return rotated


def _factor(node: LoweringNode, op: OpBuilder, positions: SSAValue, scaling: str) -> SSAValue | None:
    """The number by which a scaling multiplies cosines and sines; None if it is 1."""
    if scaling == "longrope" and node.has("long_mscale"):
        long, short = (op.constant(node.number(key), f32) for key in ("long_mscale", "short_mscale"))
        return op.Select(_is_longer(op, positions, node.number("original_max_position_embeddings")), long, short)
    factor = attention_factor(node, scaling)
    return None if factor == 1 else op.constant(factor, f32)


def _frequencies(node: LoweringNode, op: OpBuilder, positions: SSAValue, size: int, theta: float, scaling: str) -> SSAValue:
    """The frequencies of all pairs, [1, size / 2, 1]: a constant, or computed if they depend on the length of the
    text.
    """

    def constant(values: Array) -> SSAValue:
        return op.constant(values.astype(np.float32).reshape(1, -1, 1), f32)

    if scaling == "longrope":
        usual = inverse_frequencies(size, theta)
        short, long = (constant(usual / np.array(node.numbers(key), np.float32)) for key in ("short_factor", "long_factor"))
        return op.Select(_is_longer(op, positions, node.number("original_max_position_embeddings")), long, short)
    if scaling == "dynamic":
        longest = node.number("max_position_embeddings")
        factor, usual = node.number("factor"), inverse_frequencies(size, theta)
        length = op.Convert(_length(op, positions), destination_type=f32)
        base = op.Multiply(op.Power(op.Subtract(op.Multiply(length, factor / longest), factor - 1), size / (size - 2)), theta)
        exponents = constant(-np.arange(0, size, 2) / size)
        return op.Select(_is_longer(op, positions, longest), op.Power(base, exponents), constant(usual))
    return constant(inverse_frequencies(size, theta, scaling, node))


def _length(op: OpBuilder, positions: SSAValue) -> SSAValue:
    """The length of the longest sequence: the largest position plus 1."""
    return op.Add(op.ReduceMax(positions, [0, 1], keep_dims=False), 1)


def _is_longer(op: OpBuilder, positions: SSAValue, length: float) -> SSAValue:
    return op.Greater(_length(op, positions), op.constant(math.floor(length), si64))


@transformers.lowers("LengthFactor")
def length_factor(op: OpBuilder, positions: SSAValue, *, growth: float, length: float, shift: int = 0) -> SSAValue:
    """transformers.LengthFactor(positions) {growth, length, shift}
    -> 1 + growth · ln(1 + floor((positions + shift) / length)), f32 [batch, tokens, 1]

    The factors by which queries at positions beyond the trained length are scaled (Meta, Llama 4, 2025).
    """
    if shift:
        positions = op.Add(positions, op.constant(shift, si64))
    parts = op.Floor(op.Divide(op.Convert(op.Unsqueeze(positions, [2]), destination_type=f32), length))
    return op.Add(op.Multiply(op.Log(op.Add(parts, 1.0)), growth), 1.0)


@transformers.lowers("TokenIndices")
def token_indices(op: OpBuilder, attention_mask: SSAValue, tokens: SSAValue) -> SSAValue:
    """transformers.TokenIndices(attention_mask, tokens) -> the indices of the new tokens in the cache [1, tokens]"""
    return op.Squeeze(query_indices(op, attention_mask, tokens), [1, 3])


@transformers.lowers("Positions")
def shifted_positions(op: OpBuilder, tokens: SSAValue, *, offset: int | None = None) -> SSAValue:
    """transformers.Positions(positions) {offset} -> Add(positions, offset);
    transformers.Positions(tokens) -> the indices of the tokens [1, tokens]
    """
    if offset is not None:
        return op.Add(tokens, op.constant(offset, si64))
    count = op.Gather(op.ShapeOf(tokens), op.constant(1), op.constant(0))
    return op.Unsqueeze(op.Range(op.constant(0), count, op.constant(1), output_type=si64), [0])


def counted(op: OpBuilder, mask: SSAValue) -> SSAValue:
    """For each new token, the number of tokens up to it that are not padding; 0 for padding: i64 [batch, tokens]."""
    return op.Multiply(op.CumSum(mask, op.constant(1)), mask)


@transformers.lowers("CountedPositions")
def counted_positions(op: OpBuilder, attention_mask: SSAValue, tokens: SSAValue, *, offset: int) -> SSAValue:
    """transformers.CountedPositions(attention_mask, tokens) {offset}
    -> CumSum(attention_mask) * attention_mask - 1 + offset, of the new tokens
    """
    rows = op.Add(counted(op, attention_mask), op.constant(offset - 1, si64))
    past = op.Subtract(op.Gather(op.ShapeOf(attention_mask), [1], 0), op.Gather(op.ShapeOf(tokens), [1], 0))
    return op.Slice(rows, past, op.constant([2**31 - 1]), op.constant([1]), op.constant([1]))


@transformers.lowers("UnpaddedPositions")
def unpadded_positions(op: OpBuilder, tokens: SSAValue, *, offset: int, padding: int) -> SSAValue:
    """transformers.UnpaddedPositions(tokens) {offset, padding} -> CumSum(tokens != padding) * … + offset"""
    mask = op.Convert(op.NotEqual(tokens, op.constant(padding, si64)), destination_type=si64)
    return op.Add(counted(op, mask), op.constant(offset, si64))


@transformers.lowers("FirstTypes")
def first_types(op: OpBuilder, tokens: SSAValue) -> SSAValue:
    """transformers.FirstTypes(tokens) -> zeros of the shape of the tokens"""
    return op.Broadcast(op.constant(0, si64), op.ShapeOf(tokens))
