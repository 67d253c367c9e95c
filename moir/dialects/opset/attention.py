"""Attention."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def

from moir.dialects import element_types
from moir.dialects.data import Array
from moir.dialects.large_arrays import Values
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.elementwise import REALS, is_real, narrowed, require_element, widened
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import boolean_property, deferred_definition, optional_operands
from moir.dialects.shapes import (
    Shapes,
    SymbolicShape,
    broadcast_shapes,
    element_of,
    format_shape,
    is_fixed,
    merge_dimensions,
    merge_elements,
)
from moir.dialects.symbols import Dimension, Symbol
from moir.errors import InferenceError


def attention_shape(query: SymbolicShape, key: SymbolicShape, value: SymbolicShape, mask: SymbolicShape) -> SymbolicShape:
    """Shape of an attention: batch, queries, features of the values.

    An operand of dynamic rank does not affect the batch. Raises InferenceError if the shapes are not compatible.
    """
    for shape in (query, key, value):
        if shape is not None and len(shape) < 3:
            raise InferenceError(f"query, key and value should have at least three dimensions, not shape {format_shape(shape)}")
    if mask is not None and len(mask) == 1:
        raise InferenceError("an attention mask should be a scalar or have at least two dimensions")
    if mask is not None:
        # The mask is broadcast to the scores, never the scores to the mask: its symbols do not determine their
        # dimensions.
        mask = tuple([1 if isinstance(dimension, Symbol) else dimension for dimension in mask])
    batch = broadcast_shapes(*(shape[:-2] for shape in (query, key, value, mask) if shape is not None)) or ()
    queries: Dimension = -1
    keys: Dimension = -1
    features: Dimension = -1
    outputs: Dimension = -1
    if query is not None:
        queries, features = query[-2:]
    if key is not None:
        keys = key[-2]
        merge_dimensions(features, key[-1])
    if value is not None:
        keys = merge_dimensions(keys, value[-2])
        outputs = value[-1]
    if mask:
        pairs = zip((queries, keys), mask[-2:], strict=True)
        queries, keys = (size if dimension == 1 else merge_dimensions(size, dimension) for size, dimension in pairs)
    return None if query is None else (*batch, queries, outputs)


@deferred_definition
class ScaledDotProductAttention(OpsetOp):
    """softmax(query · keyᵀ · scale + attention_mask) · value.

    A boolean mask selects the keys for each query. With `causal`, query i uses keys 0 … i and the mask is ignored. The
    default scale is 1 / √(last dimension of query). The last operand has a further score for each head, a sink
    [1, heads, 1, 1]: the softmax is over it, too, but nothing is taken from it.
    """

    name = "opset13.ScaledDotProductAttention"
    query = operand_def()
    key = operand_def()
    value = operand_def()
    optional = optional_operands(3)
    causal = boolean_property(False)
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        query, key, value = shapes[:3]
        scale = shapes[4] if len(shapes) > 4 else None
        if scale is not None and (len(scale) > 1 or any(is_fixed(entry) and entry != 1 for entry in scale)):
            raise InferenceError("the scale should be a scalar or have one element")
        masked = self.optional_operand(3) is not None and not self.flag("causal")
        return attention_shape(query, key, value, shapes[3] if masked else None)

    def result_element(self) -> Attribute:
        mask = self.optional_operand(3)
        added = [self.operands[3]] if mask is not None and element_of(mask) != element_types.boolean else []
        element = reduce(merge_elements, map(element_of, (*self.operands[:3], *added, *self.operands[4:])))
        require_element(element, REALS)
        return element

    def steps(self, *operands: Values) -> int:
        query, key, value = operands[:3]
        return query.size * key.shape[-2] + max(query.size, value.size) * value.shape[-2]

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        dtype = operands[0].dtype
        query, key, value = map(widened, operands[:3])
        if not is_real(query):
            return None
        scale = widened(operands[4]).reshape(()) if len(operands) > 4 else 1 / math.sqrt(query.shape[-1])
        scores = np.matmul(query * scale, np.swapaxes(key, -1, -2))
        if self.flag("causal"):
            scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
        elif len(operands) > 3:
            mask = operands[3]
            scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + widened(mask)
        if len(operands) > 5:
            sinks = np.broadcast_to(widened(operands[5]), (*scores.shape[:-1], 1))
            scores = np.concatenate([scores, sinks], axis=-1)
        weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
        weights /= np.sum(weights, axis=-1, keepdims=True)
        return (narrowed(np.matmul(weights[..., : key.shape[-2]], value), dtype),)
