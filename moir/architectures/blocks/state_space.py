"""The nodes of a selective state space, which takes the place of an attention."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.architectures.blocks.convolution import causal_convolution
from moir.architectures.blocks.token_block import TokenBlockNodes

RANK_DIVISOR = 16
"""The size of the model in parts of the rank of the steps, where the configuration does not say it."""


class StateSpaceNodes(TokenBlockNodes):
    """Appends the state space of a layer to a network (Gu and Dao, "Mamba", 2023).

    `configuration.sizes` has `state`, the size of the state of a feature, `expansion`, the number of features in parts
    of the size of the model, and `rank`, that of the steps.
    """

    def block(self, x: SSAValue, layer: int) -> SSAValue:
        """The result of the state space of a layer.

        SelectiveStateSpace(x, steps, inputs, outputs, decay, skip, beams) {layer}

        What a state takes up of a token, how fast it decays, and what of it is the result, depends on the token.
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
        steps, *others = map(self.normalized, self.vectors.split(parts, (rank, state, state), block))
        steps = self.vectors.linear(steps, f"{block}.step", rank, features)
        decay = self.nodes.weight(f"{block}.decay", (features, state))
        operands = [x, steps, *others, decay, self.nodes.weight(f"{block}.skip", (features,)), self.inputs.beams]
        x = self.nodes.node("SelectiveStateSpace", operands, self.vectors.name(block), features, layer=layer)
        return self.vectors.linear(self.vectors.gated(x, gates, sizes.activation), f"{block}.output", features, hidden)

    def normalized(self, x: SSAValue) -> SSAValue:
        """Steps, inputs or outputs after their normalization without weights, if the family has one."""
        epsilon = self.configuration.part_epsilon
        return self.nodes.nodes("RMSNorm", [x], "", [x.type], {"epsilon": epsilon})[0] if epsilon else x
