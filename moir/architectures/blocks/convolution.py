"""The operations of a short gated convolution over the tokens, the block of a layer without attention."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.architectures.blocks.token_block import TokenBlockNodes
from moir.architectures.inputs import ModelInputs
from moir.architectures.record import Configuration
from moir.architectures.vectors import VectorNodes


class ConvolutionNodes(TokenBlockNodes):
    """Appends the convolution of a layer to a network (Liquid AI, "LFM2 Technical Report", 2025).

    `configuration.sizes` has `kernel`, the size of the convolution's window in tokens.
    """

    def block(self, x: SSAValue, layer: int) -> SSAValue:
        """The result of the convolution of a layer: output(second gates * convolution(first gates * values))"""
        hidden, block = self.configuration.hidden, f"layers.{layer}.convolution"
        x = self.vectors.linear(self.inputs.unpadded(x), f"{block}.input", hidden, 3 * hidden)
        first, second, values = self.vectors.split(x, (hidden, hidden, hidden), block)
        x = causal_convolution(self.vectors.product(first, values), layer, hidden, self.configuration, self.vectors, self.inputs)
        return self.vectors.linear(self.vectors.product(second, x), f"{block}.output", hidden, hidden)


def causal_convolution(
    x: SSAValue,
    layer: int,
    features: int,
    configuration: Configuration,
    vectors: VectorNodes,
    inputs: ModelInputs,
    activation: str | None = None,
) -> SSAValue:
    """Append a depthwise convolution over the last tokens: CausalConvolution(x, weight, bias, beams) {layer, …}

    Args:
        x: the value [batch, tokens, features].
        layer: the index of the layer, whose state has the last tokens.
        features: the number of features.
        configuration: the sizes of the model; `kernel` of its further sizes is the number of tokens.
        vectors: appends operations.
        inputs: the inputs of the model.
        activation: the activation of the result; None for none.
    """
    block, kernel = f"layers.{layer}.convolution.kernel", configuration.sizes["kernel"]
    nodes = vectors.nodes
    weight = nodes.weight(f"{block}.weight", (features, kernel))
    bias = nodes.weight(f"{block}.bias", (features,)) if "convolution.kernel" in configuration.biases else None
    properties = {"layer": layer, "activation": activation}
    return nodes.nodes("CausalConvolution", [x, weight, bias, inputs.beams], vectors.name(block), [x.type], properties)[0]
