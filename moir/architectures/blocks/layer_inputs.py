"""The operations of per-layer embeddings: a slice of a second embedding table that each layer adds (Gemma 3n)."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.architectures.blocks.token_block import TokenBlockNodes

HALF_ROOT = 2.0**-0.5
"""The factor of a sum of two values with a mean square of 1."""


class LayerInputNodes(TokenBlockNodes):
    """Appends the per-layer embeddings to a network.

    `configuration.sizes` has `layer_input`, the size of each slice, and `layer_vocabulary`, the rows of the table.
    """

    def prepare(self, embedded: SSAValue) -> None:
        """Append the per-layer inputs of all layers: rows of the second table, combined with a projection of the token
        embeddings.

        Tokens beyond the table read its row 0.
        """
        sizes, vectors = self.configuration, self.vectors
        width, rows = sizes.sizes["layer_input"], sizes.sizes["layer_vocabulary"]
        table = self.nodes.weight("layer_embedding.weight", (rows, sizes.layers * width))
        limit = rows if rows < sizes.vocabulary else None
        properties = {"scale": width**0.5, "limit": limit}
        own = self.nodes.node("Embedding", [self.inputs.tokens, table], vectors.name("layer_embedding"), sizes.layers * width, **properties)
        x = vectors.linear(embedded, "layer_projection", sizes.hidden, sizes.layers * width)
        x = vectors.norm(vectors.scaled(x, sizes.hidden**-0.5), "layer_projection_norm", width)
        x = vectors.scaled(vectors.sum(x, own, "layer_inputs"), HALF_ROOT)
        self._inputs = vectors.split(x, [width] * sizes.layers, "layer_inputs")

    def block(self, x: SSAValue, layer: int) -> SSAValue:
        """What a layer adds to its hidden state x: norm(projection(activation(gate(x)) * input))"""
        sizes, vectors, name = self.configuration, self.vectors, f"layers.{layer}.layer_input"
        width = sizes.sizes["layer_input"]
        gates = vectors.linear(x, f"{name}.gate", sizes.hidden, width)
        x = vectors.gated(self._inputs[layer], gates, sizes.activation)
        return vectors.norm(vectors.linear(x, f"{name}.output", width, sizes.hidden), f"{name}.norm", sizes.hidden)
