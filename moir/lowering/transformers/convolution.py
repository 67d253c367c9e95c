"""Depthwise convolutions over the last tokens.

The paged backend of GenAI has an operation for these (PagedCausalConv1DFusion): a Concat of the last K tokens and the
new ones, a GroupConvolution without padding, a Slice of the new tokens; no addition within. The backend removes the
product with the mask; the mask has to be computed from the input by a Slice, an Unsqueeze and a Convert.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.dialects.shapes import shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.transformers.activation import activated
from moir.lowering.transformers.states import fixed_state, recurrent_variable
from moir.lowering.transformers.table import transformers
from moir.lowering.transformers.weights import vector
from moir.rewriting.builder import OpBuilder
from moir.rewriting.variables import assign_variable

FEATURES_FIRST = np.array([0, 2, 1])
"""The permutation between [batch, tokens, features] and [batch, features, tokens]."""

END = 2**63 - 1
"""The stop of a Slice that takes all elements."""


@transformers.lowers("MaskPadding")
def mask_padding(op: OpBuilder, x: SSAValue, attention_mask: SSAValue, tokens: SSAValue) -> SSAValue:
    """transformers.MaskPadding(x, attention_mask, tokens)
    -> Multiply(x, Convert(Unsqueeze(Slice(attention_mask)))), of the new tokens
    """
    past = op.Subtract(op.Gather(op.ShapeOf(attention_mask), [1], 0), op.Gather(op.ShapeOf(tokens), [1], 0))
    new = op.Slice(attention_mask, past, op.constant([END]), op.constant([1]), op.constant([1]))
    return op.Multiply(x, op.Convert(op.Unsqueeze(new, [2]), destination_type=f32))


@transformers.lowers("CausalConvolution")
def causal_convolution(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None = None,
    beams: SSAValue | None = None,
    *,
    layer: int,
    activation: str = "linear",
) -> SSAValue:
    """transformers.CausalConvolution(x, weight [features, K], bias, beams) {layer, activation}
    -> activation(GroupConvolution(the last K tokens and x, weight [features, 1, 1, K]) + bias)

    x and the result are [batch, tokens, features]. The last K tokens are a state of the layer.
    """
    shape = shape_of(weight)
    if shape is None or len(shape) != 2 or beams is None:
        node.fail(f"its weight of the shape {shape} is not that of a convolution")
    features, size = shape
    variable = recurrent_variable("conv", layer)
    past = fixed_state(op, beams, variable, (features, size))
    joined = op.Concat(past, op.Transpose(x, FEATURES_FIRST), axis=-1)
    axis, step = op.constant([2]), op.constant([1])
    assign_variable(op, variable, op.Slice(joined, op.constant([-size]), op.constant([END]), step, axis))
    kernel = vector(op, weight, 0.0, (features, 1, 1, size))
    both = op.GroupConvolution(joined, kernel, strides=[1], pads_begin=[0], pads_end=[0], dilations=[1])
    y = op.Slice(both, op.constant([1]), op.constant([END]), step, axis)
    if bias is not None:
        y = op.Add(y, vector(op, bias, 0.0, (1, features, 1)))
    return op.Transpose(activated(node, op, y, activation), FEATURES_FIRST)
