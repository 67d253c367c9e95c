"""Lightning attention: a linear attention whose state decays by a constant factor of each head."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.element_types import f32
from moir.dialects.shapes import shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.transformers.state_space import StateSpace, scanned
from moir.lowering.transformers.table import transformers
from moir.rewriting.builder import OpBuilder


@transformers.lowers("LightningAttention")
def lightning_attention(
    node: LoweringNode,
    op: OpBuilder,
    queries: SSAValue,
    keys: SSAValue,
    values: SSAValue,
    slopes: SSAValue,
    positions: SSAValue,
    beams: SSAValue,
    *,
    layer: int,
) -> SSAValue:
    """transformers.LightningAttention(queries, keys, values, slopes, positions, beams) {layer}
    -> Loop over the tokens: state = exp(-slope) · state + value · key; query · state

    Qin and others, "Various Lengths, Constant Speed: Efficient Language Modeling with Lightning Attention", 2024.
    Queries, keys and values are [batch, tokens, heads * size], the slopes a constant [heads]. It is a selective state
    space with the keys as its inputs and the queries as its outputs, so that a runtime executes both alike. Its time
    steps are 1, computed of the positions: a runtime that folds constant steps has another graph, which GenAI's paged
    backend does not recognize.
    """
    rates, width = constant_of(slopes), (shape_of(values) or (-1,))[-1]
    if rates is None or rates.ndim != 1 or width < 1 or width % len(rates):
        node.fail(f"its slopes are no constant for each head of {width} features")
    heads = len(rates)
    parts = [op.Reshape(each, [0, 0, heads, width // heads], special_zero=True) for each in (values, keys, queries)]
    counted = op.Add(op.Unsqueeze(op.convert(positions, f32), [2]), op.constant(np.ones(heads, np.float32), f32))
    steps = op.Minimum(counted, op.constant(1.0, f32))
    space = StateSpace(parts[0], steps, parts[1], parts[2], -np.asarray(rates, np.float32))
    return op.Reshape(scanned(op, space, beams, layer), [0, 0, width], special_zero=True)
