"""The operations of AltUp, several residual streams per token, of which a layer computes one and corrects all (Gemma
3n).

Baykal and others, "Alternating Updates for Efficient Transformers", 2023. `configuration.sizes` has `values`, the
number of streams, `active`, the index of the one that is computed, and `laurel_rank`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

from moir.architectures.blocks.layer_inputs import HALF_ROOT
from moir.architectures.record import Architecture, Configuration
from moir.architectures.vectors import VectorNodes
from moir.dialects.element_types import f32
from moir.dialects.shapes import tensor

Block = Callable[[SSAValue, int], SSAValue]
"""Appends a block of a layer to a network."""


class AlternatingUpdateNodes:
    """Appends the layers of a model with AltUp to a network.

    Args:
        architecture: the record of the family.
        configuration: the sizes of the model.
        vectors: appends operations that compute each token by itself.
    """

    def __init__(self, architecture: Architecture, configuration: Configuration, vectors: VectorNodes) -> None:
        self.architecture = architecture
        self.configuration = configuration
        self.vectors = vectors
        self.nodes = vectors.nodes

    def values(self, x: SSAValue) -> list[SSAValue]:
        """The residual streams before the first layer: the embedding x, then projections of x rescaled to its
        magnitude.
        """
        return [x, *(self.rescaled(x, x, f"first_values.{index}") for index in range(self.configuration.sizes["values"] - 1))]

    def joined(self, values: Sequence[SSAValue]) -> SSAValue:
        """The mean of the residual streams after the last layer; all but the first are projected and rescaled to its
        magnitude.
        """
        total = values[0]
        for index, value in enumerate(values[1:]):
            total = self.vectors.sum(total, self.rescaled(value, values[0], f"last_values.{index}"), f"last_values.{index}.sum")
        return self.vectors.scaled(total, 1 / len(values))

    def rescaled(self, x: SSAValue, like: SSAValue, block: str) -> SSAValue:
        """The linear projection `block` of x, rescaled to the magnitude of `like`: Rescale(Linear(x), like)"""
        hidden = self.configuration.hidden
        product = self.vectors.linear(x, block, hidden, hidden)
        return self.nodes.nodes("Rescale", [product, like], "", [product.type], {})[0]

    def layer(self, values: Sequence[SSAValue], layer: int, attention: Block, feed_forward: Block, layer_input: Block) -> list[SSAValue]:
        """The residual streams after a layer.

        Args:
            values: the streams before it.
            layer: its index.
            attention, feed_forward, layer_input: append its blocks.
        """
        active = self.configuration.sizes["active"]
        predicted = self.predicted(values, layer)
        computed = self.computed(predicted[active], layer, attention, feed_forward)
        corrected = self.corrected(predicted, computed, layer)
        first = corrected[active]
        if self.architecture.scales_correction:
            factor = self.nodes.weight(f"layers.{layer}.updates.scale", (self.configuration.hidden,))
            first = self.vectors.scaled(first, 1.0, factor)
        term = layer_input(first, layer)
        names = (f"layers.{layer}.value{index}" for index in range(1, len(corrected)))
        return [corrected[0], *(self.vectors.sum(each, term, name) for each, name in zip(corrected[1:], names, strict=True))]

    def computed(self, x: SSAValue, layer: int, attention: Block, feed_forward: Block) -> SSAValue:
        """The active stream x after the blocks of a layer.

        Attention and a low-rank branch (Laurel) are computed side by side, then the feed-forward block.
        """
        hidden, rank, vectors = self.configuration.hidden, self.configuration.sizes["laurel_rank"], self.vectors
        name = f"layers.{layer}"
        normed = vectors.norm(x, f"{name}.attention_norm", hidden)
        low = vectors.linear(normed, f"{name}.laurel.down", hidden, rank)
        low = vectors.norm(vectors.linear(low, f"{name}.laurel.up", rank, hidden), f"{name}.laurel.norm", hidden)
        beside = vectors.sum(normed, low, f"{name}.laurel")
        attended = vectors.norm(attention(normed, layer), f"{name}.attention_output_norm", hidden)
        x = vectors.sum(vectors.sum(x, attended, f"{name}.sum0"), beside, f"{name}.sum1")
        x = vectors.scaled(x, HALF_ROOT)
        inner = feed_forward(vectors.norm(x, f"{name}.feed_forward_norm", hidden), layer)
        return vectors.sum(x, vectors.norm(inner, f"{name}.feed_forward_output_norm", hidden), f"{name}.sum2")

    def routed(self, x: SSAValue, layer: int, part: str, width: int) -> SSAValue:
        """The router's coefficients of a layer, [batch, tokens, width], computed from the stream x.

        `part` is `prediction` or `correction`, the name of the last projection.
        """
        hidden, count, name = self.configuration.hidden, self.configuration.sizes["values"], f"layers.{layer}.updates"
        normed = self.vectors.scaled(self.vectors.norm(x, f"{name}.router_norm", hidden), 1 / hidden)
        operands = [normed, *self.vectors.matrix(f"{name}.router", hidden, count)]
        shares = self.nodes.node("Linear", operands, self.vectors.name(f"{name}.router"), count, activation="tanh")
        return self.vectors.linear(shares, f"{name}.{part}", count, width)

    def predicted(self, values: Sequence[SSAValue], layer: int) -> list[SSAValue]:
        """The predicted residual streams, linear combinations of all streams: MixValues(coefficients, values)"""
        coefficients = self.routed(values[self.configuration.sizes["active"]], layer, "prediction", len(values) ** 2)
        return self.several("MixValues", [coefficients, *values], len(values))

    def corrected(self, predicted: Sequence[SSAValue], computed: SSAValue, layer: int) -> list[SSAValue]:
        """The predicted residual streams, corrected by the computed active one.

        CorrectValues(coefficients, computed, values) {active}
        """
        coefficients = self.routed(computed, layer, "correction", len(predicted))
        operands = [coefficients, computed, *predicted]
        return self.several("CorrectValues", operands, len(predicted), active=self.configuration.sizes["active"])

    def several(self, kind: str, operands: Sequence[SSAValue], count: int, **properties: object) -> list[SSAValue]:
        """Append an operation `kind` with `count` results, one for each residual stream; returns the results."""
        return self.nodes.nodes(kind, operands, "", [tensor((-1, -1, self.configuration.hidden), f32)] * count, properties)
