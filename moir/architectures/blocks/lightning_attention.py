"""The operations of a lightning attention, a linear attention, the block of a layer without softmax attention."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.architectures.blocks.token_block import TokenBlockNodes
from moir.dialects.data import DataAttr
from moir.dialects.element_types import f32

TOLERANCE = 1e-5
"""What is added to the number of layers after a layer, and to the share of them, so that neither is 0."""


class LightningAttentionNodes(TokenBlockNodes):
    """Appends the lightning attention of a layer to a network (MiniMax, "MiniMax-01", 2025)."""

    def block(self, x: SSAValue, layer: int) -> SSAValue:
        """The result of the lightning attention of a layer.

        LightningAttention(queries, keys, values, slopes, positions, beams) {layer}

        Queries, keys and values are activated parts of one projection, which lie beside each other for each head; the
        result is normalized over all heads, and multiplied with gates.
        """
        sizes, block = self.configuration, f"layers.{layer}.lightning"
        width = sizes.heads * sizes.head_size
        x = self.inputs.unpadded(x)
        weight, bias = self.vectors.matrix(f"{block}.query_key_value", sizes.hidden, 3 * width)
        properties = {"activation": sizes.activation}
        joined = self.nodes.node("Linear", [x, weight, bias], self.vectors.name(f"{block}.query_key_value"), 3 * width, **properties)
        parts = self.vectors.split(joined, (sizes.head_size,) * 3, block, sizes.heads)
        slopes = self.nodes.constant(DataAttr.of(self.slopes(layer), f32))
        y = self.nodes.node(
            "LightningAttention", [*parts, slopes, self.inputs.positions, self.inputs.beams], self.vectors.name(block), width, layer=layer
        )
        y = self.vectors.norm(y, f"{block}.norm", width, epsilon=sizes.part_epsilon)
        y = self.vectors.gated(y, self.vectors.linear(x, f"{block}.gates", sizes.hidden, width))
        return self.vectors.linear(y, f"{block}.output", width, sizes.hidden)

    def slopes(self, layer: int) -> np.ndarray:
        """The negative logarithm of the decay of each head, [heads]; later layers decay more slowly."""
        heads, layers = self.configuration.heads, self.configuration.layers
        share = 1 - layer / (layers - 1 + TOLERANCE) + TOLERANCE
        return (2.0 ** (-8.0 / heads * np.arange(1, heads + 1)) * share).astype(np.float32)
