"""The operations of a selective state space, the block of a layer without attention."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from xdsl.ir import SSAValue

from moir.architectures.blocks.convolution import causal_convolution
from moir.architectures.blocks.token_block import TokenBlockNodes
from moir.dialects.data import DataAttr
from moir.dialects.element_types import f32

RANK_DIVISOR = 16
"""The rank of the time steps is the hidden size divided by this number, unless the configuration has the rank."""


class StateSpaceNodes(TokenBlockNodes):
    """Appends the state space of a layer to a network (Gu and Dao, "Mamba", 2023).

    `configuration.sizes` has `state`, the size of the state of a feature, `expansion`, the number of features divided
    by the hidden size, and `rank`, the rank of the projection of the time steps.
    """

    def block(self, x: SSAValue, layer: int) -> SSAValue:
        """Build the state space block of a layer, from its input projection to its output projection, for x:
        [batch, tokens, hidden]; returns a tensor of the same shape.

        SelectiveStateSpace(x, steps, inputs, outputs, decay, skip, beams) {layer}

        The time steps and the input and output matrices (B and C) of the recurrence are projections of each token.
        """
        sizes, block = self.configuration, f"layers.{layer}.state_space"
        hidden, state = sizes.hidden, sizes.sizes["state"]
        features = hidden * sizes.sizes["expansion"]
        rank = sizes.sizes.get("rank") or -(-hidden // RANK_DIVISOR)
        x = self.vectors.linear(self.inputs.unpadded(x), f"{block}.input", hidden, 2 * features)
        x, gates = self.vectors.split(x, (features, features), f"{block}.input")
        x = causal_convolution(x, layer, features, sizes, self.vectors, self.inputs, sizes.activation)
        x = self.inputs.unpadded(x)
        parts = self.vectors.linear(x, f"{block}.parts", features, rank + 2 * state)
        widths = (rank, state, state)
        split = zip(("steps", "inputs", "outputs"), widths, self.vectors.split(parts, widths, block), strict=True)
        steps, *others = (self.normalized(each, f"{block}.{part}_norm", width) for part, width, each in split)
        steps = self.vectors.linear(steps, f"{block}.step", rank, features)
        decay = self.nodes.weight(f"{block}.decay", (features, state))
        operands = [x, steps, *others, decay, self.nodes.weight(f"{block}.skip", (features,)), self.inputs.beams]
        x = self.nodes.node("SelectiveStateSpace", operands, self.vectors.name(block), features, layer=layer)
        return self.vectors.linear(self.vectors.gated(x, gates, sizes.activation), f"{block}.output", features, hidden)

    def normalized(self, x: SSAValue, block: str, width: int) -> SSAValue:
        """Time steps, inputs or outputs after their normalization, which may have weights; unchanged if the family has
        no normalization.
        """
        epsilon = self.configuration.part_epsilon
        if self.architecture.part_weights:
            return self.vectors.norm(x, block, width, epsilon=epsilon)
        return self.nodes.nodes("RMSNorm", [x], "", [x.type], {"epsilon": epsilon})[0] if epsilon else x


class GroupedStateSpaceNodes(TokenBlockNodes):
    """Appends the state space of a layer to a network, whose heads have one decay each (Dao and Gu, "Mamba-2", 2024).

    `configuration.sizes` has `state`, the size of the state of a feature, `state_heads`, the number of heads, `groups`,
    the number of groups of heads with the same input and output matrices (B and C); and `features`, the number of
    features, or else `state_head_size`, that of a head, or else `expansion`, the number of features divided by the
    hidden size.
    """

    def block(self, x: SSAValue, layer: int) -> SSAValue:
        """Build the state space block of a layer, from its input projection to its output projection, for x:
        [batch, tokens, hidden]; returns a tensor of the same shape.

        SelectiveStateSpace(x, steps, inputs, outputs, decay, skip, beams, step bias) {layer, groups}

        One matrix product computes the gates, the operands of the causal convolution, and the steps. The gated result
        is normalized over the features of each group.
        """
        sizes, block = self.configuration, f"layers.{layer}.state_space"
        further, hidden = sizes.sizes, sizes.hidden
        heads, groups = further["state_heads"], further["groups"]
        of_heads = heads * further["state_head_size"] if "state_head_size" in further else hidden * further["expansion"]
        features = further.get("features") or of_heads
        read = groups * further["state"]
        mixed = features + 2 * read
        product = self.vectors.linear(self.inputs.unpadded(x), f"{block}.input", hidden, features + mixed + heads)
        widths = {"gates": features, "values": features, "inputs": read, "outputs": read, "steps": heads}
        widths = {f"state space {part}": width for part, width in widths.items()}
        if not sizes.factors.keys().isdisjoint(widths):
            product = self.vectors.scaled(product, 1.0, self.factors(widths))
        gates, x, steps = self.vectors.split(product, (features, mixed, heads), f"{block}.input")
        activation = sizes.state_activation or sizes.activation
        x = causal_convolution(x, layer, mixed, sizes, self.vectors, self.inputs, activation)
        x, inputs, outputs = self.vectors.split(self.inputs.unpadded(x), (features, read, read), block)
        decay, skip, step_bias = (self.nodes.weight(f"{block}.{part}", (heads,)) for part in ("decay", "skip", "step_bias"))
        operands = [x, steps, inputs, outputs, decay, skip, self.inputs.beams, step_bias]
        x = self.nodes.node("SelectiveStateSpace", operands, self.vectors.name(block), features, layer=layer, groups=groups)
        is_first = self.architecture.state_norm == "before gates"
        x = x if is_first else self.vectors.gated(x, gates, "silu")
        if self.architecture.state_norm is not None:
            x = self.vectors.norm(x, f"{block}.norm", features // groups, shape=(features,))
        x = self.vectors.gated(x, gates, "silu") if is_first else x
        return self.vectors.linear(x, f"{block}.output", features, hidden)

    def factors(self, widths: Mapping[str, int]) -> SSAValue:
        """A constant vector with the factor of each feature of the projection.

        `widths` has the number of features of each part of the projection, by the part's name in
        `Configuration.factors`; parts without an entry there have the factor 1.
        """
        parts = [np.full(width, self.configuration.factors.get(part, 1.0), np.float32) for part, width in widths.items()]
        return self.nodes.constant(DataAttr.of(np.concatenate(parts), f32))
