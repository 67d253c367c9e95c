"""Multi-head latent attention: keys and values are projections of one small vector for each token.

DeepSeek-AI, "DeepSeek-V2: A Strong, Economical, and Efficient Mixture-of-Experts Language Model", 2024.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.transformers.attention import HEADS_FIRST, attended, cached, heads_of, key_variable, rotated, sliced, value_variable
from moir.lowering.transformers.table import transformers
from moir.rewriting.builder import OpBuilder


@transformers.lowers("LatentAttention")
def latent_attention(
    node: LoweringNode,
    op: OpBuilder,
    queries: SSAValue,
    expanded: SSAValue,
    rotated_keys: SSAValue,
    mask: SSAValue,
    beams: SSAValue,
    cosines: SSAValue,
    sines: SSAValue,
    *,
    heads: int,
    plain_size: int,
    layer: int,
    scale: float,
    rotation: str = "halves",
    is_sparse: bool = False,
) -> SSAValue:
    """transformers.LatentAttention(queries, keys and values, rotated keys, mask, beams, cosines, sines) {heads, …}
    -> ScaledDotProductAttention(queries, cached keys, cached values, mask, scale)

    The keys and values of all heads are cached, since ScaledDotProductAttention reads these. A head of `queries` is a
    plain and a rotated part, a head of `expanded` the plain part of a key, and a value. With `is_sparse` the mask
    hides keys that depend on the query; backends that replace the operation read its mask as a causal one, so that two
    products compute it.
    """
    query = heads_of(node, op, queries, heads)
    size = (shape_of(query) or (-1,))[-1]
    turned = rotated(node, op, sliced(op, query, plain_size, size), rotation, cosines, sines)
    query = op.Concat(sliced(op, query, 0, plain_size), turned, axis=-1)
    both = heads_of(node, op, expanded, heads)
    value_stop = (shape_of(both) or (-1,))[-1]
    shared = rotated(node, op, heads_of(node, op, rotated_keys, 1), rotation, cosines, sines)
    shared = op.Tile(shared, [1, heads, 1, 1])
    key = cached(op, op.Concat(sliced(op, both, 0, plain_size), shared, axis=-1), beams, key_variable(layer))
    value = cached(op, sliced(op, both, plain_size, value_stop), beams, value_variable(layer))
    result = attended(op, query, key, value, mask, scale, is_single=not is_sparse)
    width = heads * (value_stop - plain_size)
    return op.Reshape(op.Transpose(result, HEADS_FIRST), [0, 0, width], special_zero=True)
