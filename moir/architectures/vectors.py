"""Operations that compute the vector of each token by itself: normalizations, projections, sums."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.architectures.nodes import NodeList
from moir.architectures.record import Architecture, Configuration
from moir.dialects.element_types import f32
from moir.dialects.shapes import shape_of, tensor


class VectorNodes:
    """Appends normalizations, projections and elementwise operations to a network.

    Args:
        architecture: the record of the family.
        configuration: the sizes of the model.
        nodes: the operations of the network.
    """

    def __init__(self, architecture: Architecture, configuration: Configuration, nodes: NodeList) -> None:
        self.architecture = architecture
        self.configuration = configuration
        self.nodes = nodes

    def name(self, block: str) -> str:
        """The name of a block in the file, which its operation gets."""
        return self.nodes.checkpoint.name(block)

    def norm(
        self,
        x: SSAValue,
        block: str,
        width: int,
        kind: str | None = None,
        shape: tuple[int, ...] | None = None,
        epsilon: float | None = None,
        offset: float | None = None,
    ) -> SSAValue:
        """Append a normalization over the last dimension of x, or over each of its equal parts.

        Args:
            x: the value.
            block: the operand that its weights belong to.
            width: the size of a part that is normalized; the value has one part, or one for each head.
            kind: `rms` or `layer`; that of the architecture by default.
            shape: the shape of the weights; [width] by default. [heads, width] for separate weights of each head.
            epsilon: what is added to the mean of squares; that of the configuration by default.
            offset: what is added to the weights; that of the architecture by default.
        """
        architecture, name = self.architecture, self.name(block)
        kind, shape = kind or architecture.norm, shape or (width,)
        weight = self.nodes.weight(f"{block}.weight", shape) if architecture.norm_weight else None
        epsilon = self.configuration.epsilon if epsilon is None else epsilon
        offset = architecture.norm_offset if offset is None else offset
        common = {"epsilon": epsilon, "offset": offset or None, "part": width}
        if kind == "rms":
            return self.nodes.nodes("RMSNorm", [x, weight], name, [x.type], common)[0]
        bias = self.nodes.weight(f"{block}.bias", shape) if architecture.norm_bias else None
        return self.nodes.nodes("LayerNorm", [x, weight, bias], name, [x.type], common)[0]

    def plain_norm(self, x: SSAValue, width: int, epsilon: float | None = None) -> SSAValue:
        """Append an RMS normalization of each part of x of `width` features, without weights: RMSNorm(x) {epsilon,
        part}
        """
        properties = {"epsilon": self.configuration.epsilon if epsilon is None else epsilon, "part": width}
        return self.nodes.nodes("RMSNorm", [x], "", [x.type], properties)[0]

    def matrix(self, block: str, inner: int, outer: int) -> tuple[SSAValue, SSAValue | None]:
        """The matrix [outer, inner] and the bias of a block; None for the bias if the configuration does not list the
        block.
        """
        weight = self.nodes.weight(f"{block}.weight", (outer, inner))
        part = block.partition(".")[2].partition(".")[2] if block.startswith("layers.") else block
        bias = self.nodes.weight(f"{block}.bias", (outer,)) if part in self.configuration.biases else None
        return weight, bias

    def linear(self, x: SSAValue, block: str, inner: int, outer: int) -> SSAValue:
        """Append the projection of x with the matrix [outer, inner] and, if there is one, the bias of a block."""
        return self.nodes.node("Linear", [x, *self.matrix(block, inner, outer)], self.name(block), outer)

    def sum(self, x: SSAValue, y: SSAValue, block: str) -> SSAValue:
        """Append the elementwise sum x + y, with the name of `block`."""
        return self.nodes.nodes("Add", [x, y], self.name(block), [x.type], {})[0]

    def gated(self, x: SSAValue, gates: SSAValue, activation: str = "sigmoid", heads: int = 1) -> SSAValue:
        """Append x times an activation of gates: Gate(x, gates) {activation, heads}

        There is one gate for each feature, or one for all features of a head.
        """
        properties = {"activation": None if activation == "sigmoid" else activation, "heads": None if heads == 1 else heads}
        return self.nodes.nodes("Gate", [x, gates], "", [x.type], properties)[0]

    def product(self, x: SSAValue, y: SSAValue) -> SSAValue:
        """Append the elementwise product: Multiply(x, y)"""
        return self.nodes.nodes("Multiply", [x, y], "", [x.type], {})[0]

    def concat(self, parts: Sequence[SSAValue], block: str) -> SSAValue:
        """Append the concatenation of several values along the features, with the name of `block`: Concat(parts)"""
        width = sum((shape_of(each) or (-1,))[-1] for each in parts)
        return self.nodes.node("Concat", parts, self.name(block), width)

    def split(self, x: SSAValue, widths: Sequence[int], block: str, groups: int = 1) -> list[SSAValue]:
        """Append a split of the features of x, which consist of groups; part i of the result has part i of every group:
        Split(x) {groups, widths}

        Args:
            x: the value [batch, tokens, groups * sum(widths)].
            widths: the sizes of the parts in a group.
            block: the block whose name the operation gets.
            groups: the number of groups.

        Returns the parts, [batch, tokens, groups * width] each.
        """
        types = [tensor((-1, -1, groups * width), f32) for width in widths]
        return self.nodes.nodes("Split", [x], f"{self.name(block)}.parts", types, {"groups": groups, "widths": list(widths)})

    def scaled(self, x: SSAValue, factor: float, weight: SSAValue | None = None) -> SSAValue:
        """Append x times a number and, unless it is None, a weight with one element for each feature, or one for all.

        Scale(x, weight) {factor}
        """
        operands = [x] if weight is None else [x, weight]
        return self.nodes.nodes("Scale", operands, "", [x.type], {"factor": factor})[0]

    def classification(self, x: SSAValue, attention_mask: SSAValue) -> SSAValue:
        """Append the classifier of an encoder: scores [batch, labels] of x pooled over the tokens as the configuration
        says.
        """
        hidden, labels, pooling = self.configuration.hidden, self.configuration.labels, self.configuration.pooling
        if pooling != "late":
            x = self.pooled(x, attention_mask, pooling)
        dense, bias = self.matrix("pooler", hidden, hidden)
        properties = {"activation": self.configuration.pooler_activation}
        x = self.nodes.nodes("Linear", [x, dense, bias], self.name("pooler"), [x.type], properties)[0]
        if pooling == "late":
            x = self.pooled(x, attention_mask, "mean")
        if self.architecture.pooler_norm:
            x = self.norm(x, "pooler_norm", hidden)
        weight, bias = self.matrix("classifier", hidden, labels)
        return self.nodes.nodes("Linear", [x, weight, bias], self.name("classifier"), [tensor((-1, labels), f32)], {})[0]

    def pooled(self, x: SSAValue, attention_mask: SSAValue, pooling: str) -> SSAValue:
        """Append the pooling of x over the tokens: `first`, FirstToken(x), or else the mean without padding,
        MeanToken(x, mask).
        """
        kind, operands = ("FirstToken", [x]) if pooling == "first" else ("MeanToken", [x, attention_mask])
        return self.nodes.nodes(kind, operands, "", [tensor((-1, self.configuration.hidden), f32)], {})[0]
