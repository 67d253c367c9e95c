"""The operations of a real-gated linear recurrent unit, the block of a layer without attention."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.architectures.blocks.convolution import causal_convolution
from moir.architectures.blocks.token_block import TokenBlockNodes


class GatedRecurrenceNodes(TokenBlockNodes):
    """Appends the gated recurrence of a layer to a network (De and others, "Griffin", 2024).

    `configuration.sizes` has `features`, the number of its features, or 0 for the hidden size.
    """

    def block(self, x: SSAValue, layer: int) -> SSAValue:
        """The result of the recurrence of a layer: output(activation(gates(x)) * recurrence(convolution(values(x))))

        GatedRecurrence(x, input weight, input bias, recurrence weight, recurrence bias, decay, positions, beams)
        {layer}
        """
        sizes, block = self.configuration, f"layers.{layer}.recurrence"
        hidden, heads = sizes.hidden, sizes.heads
        features = sizes.sizes["features"] or hidden
        size = features // heads
        x = self.inputs.unpadded(x)
        gates = self.vectors.linear(x, f"{block}.gates", hidden, features)
        values = self.inputs.unpadded(self.vectors.linear(x, f"{block}.values", hidden, features))
        values = causal_convolution(values, layer, features, sizes, self.vectors, self.inputs)
        values = self.inputs.unpadded(values)
        shapes = {
            **{"input_weight": (heads, size, size), "input_bias": (heads, size)},
            **{"recurrence_weight": (heads, size, size), "recurrence_bias": (heads, size), "decay": (features,)},
        }
        weights = [self.nodes.weight(f"{block}.{name}", shape) for name, shape in shapes.items()]
        operands = [values, *weights, self.inputs.positions, self.inputs.beams]
        y = self.nodes.node("GatedRecurrence", operands, self.vectors.name(block), features, layer=layer)
        return self.vectors.linear(self.vectors.gated(y, gates, sizes.activation), f"{block}.output", features, hidden)
