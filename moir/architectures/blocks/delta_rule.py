"""The operations of a gated delta rule, a linear attention, the block of a layer without softmax attention."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.architectures.blocks.convolution import causal_convolution
from moir.architectures.blocks.token_block import TokenBlockNodes

SIZES = ("key_heads", "heads", "key_size", "value_size")
"""The names of the further sizes, without the prefix `delta.`, that a configuration needs for the delta rule."""


class DeltaRuleNodes(TokenBlockNodes):
    """Appends the gated delta rule of a layer to a network (Qwen3-Next)."""

    def block(self, x: SSAValue, layer: int) -> SSAValue:
        """The result of the delta rule of a layer.

        GatedDeltaRule(queries, keys, values, strengths, steps, decay, step bias, beams) {key_heads, heads, layer}

        The strengths are the write strengths (beta) of the rule, the steps its time steps (a). Queries, keys and values
        go through a convolution over the last tokens; the result is normalized for each head, and multiplied with
        gates.
        """
        block = f"layers.{layer}.delta_rule"
        key_heads, heads, key_size, value_size = (self.configuration.sizes[f"delta.{name}"] for name in SIZES)
        keys, values = key_heads * key_size, heads * value_size
        x = self.inputs.unpadded(x)
        joined, gates, strengths, steps = self.projected(x, block, key_heads, (keys, values, heads))
        activation = self.configuration.activation
        parts = (self.configuration, self.vectors, self.inputs)
        factor = self.configuration.factors.get("strengths")
        mixed = causal_convolution(joined, layer, 2 * keys + values, *parts, activation)
        mixed_parts = self.vectors.split(mixed, (keys, keys, values), f"{block}.mixed")
        weights = [self.nodes.weight(f"{block}.{name}", (heads,)) for name in ("decay", "step_bias")]
        properties = {"key_heads": key_heads, "heads": heads, "layer": layer, "strength_factor": factor}
        properties["is_tiled"] = self.architecture.tiles_keys or None
        operands = [*mixed_parts, strengths, steps, *weights, self.inputs.beams]
        x = self.nodes.node("GatedDeltaRule", operands, self.vectors.name(block), values, **properties)
        epsilon = self.configuration.part_epsilon or None
        x = self.vectors.norm(x, f"{block}.norm", value_size, epsilon=epsilon, offset=0.0)
        x = self.vectors.gated(x, gates, "silu")
        return self.vectors.linear(x, f"{block}.output", values, self.configuration.hidden)

    def projected(self, x: SSAValue, block: str, key_heads: int, widths: tuple[int, int, int]) -> list[SSAValue]:
        """The projections of x by Linear: [queries, keys and values concatenated, output gates, write strengths, time
        steps].

        As `Architecture.delta_packing` says, there is one Linear for each of the four or six weights in a file; or
        there are fewer weights, with rows interleaved by key head, whose results are split.

        Args:
            x: the value of the layer.
            block: the name of the block.
            key_heads: the number of key heads.
            widths: the features of all keys, those of all values, and the number of value heads.
        """
        hidden, (keys, values, heads) = self.configuration.hidden, widths
        if self.architecture.delta_packing == "all separate":
            parts = {"query": keys, "key": keys, "value": values, "gates": values, "strengths": heads, "steps": heads}
            *mixed, gates, strengths, steps = (self.vectors.linear(x, f"{block}.{part}", hidden, width) for part, width in parts.items())
            return [self.vectors.concat(mixed, f"{block}.query_key_value"), gates, strengths, steps]
        if self.architecture.delta_packing == "separate":
            parts = {"query_key_value": 2 * keys + values, "gates": values, "strengths": heads, "steps": heads}
            return [self.vectors.linear(x, f"{block}.{part}", hidden, width) for part, width in parts.items()]
        if self.architecture.delta_packing == "one matrix":
            rows = (2 * keys + values, values, heads, heads)
            return self.vectors.split(self.vectors.linear(x, f"{block}.input", hidden, sum(rows)), rows, f"{block}.input")
        numbers = self.vectors.linear(x, f"{block}.numbers", hidden, 2 * heads)
        if self.architecture.delta_packing == "all heads":
            joined = self.vectors.linear(x, f"{block}.query_key_value", hidden, 2 * keys + values)
            gates = self.vectors.linear(x, f"{block}.gates", hidden, values)
            return [joined, gates, *self.vectors.split(numbers, [heads // key_heads] * 2, f"{block}.numbers", key_heads)]
        both = self.vectors.linear(x, f"{block}.input", hidden, 2 * keys + 2 * values)
        own = [each // key_heads for each in (keys, keys, values, values)]
        of_head = heads // key_heads
        queries, key, value, gates = self.vectors.split(both, own, f"{block}.input", key_heads)
        joined = self.vectors.concat([queries, key, value], f"{block}.query_key_value")
        return [joined, gates, *self.vectors.split(numbers, (of_head, of_head), f"{block}.numbers", key_heads)]
