"""The operations of multi-head latent attention: keys and values are projections of one small vector for each token."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.architectures.blocks.token_block import TokenBlockNodes
from moir.architectures.record import Latent, Rotary
from moir.architectures.yarn import magnitude

EPSILON = 1e-6
"""The epsilon of the normalizations of compressed vectors; config.json has only the epsilon of the other
normalizations.
"""


class LatentAttentionNodes(TokenBlockNodes):
    """Appends the latent attention of a layer to a network (DeepSeek-AI, "DeepSeek-V2", 2024)."""

    def block(self, x: SSAValue, layer: int) -> SSAValue:
        """The result of the attention of a layer.

        LatentAttention(queries, keys and values, rotated keys, mask, beams, cosines, sines) {heads, plain_size, …}

        Each head of the queries has a plain and a rotated part, each head of the second operand a plain part of a key,
        and a value; the rotated part of the keys is the same for all heads.
        """
        sizes, block = self.configuration, f"layers.{layer}.attention"
        latent, rotary = sizes.latent, sizes.rotary[layer]
        assert latent is not None
        assert rotary is not None
        heads, value_size = sizes.heads, sizes.value_size or sizes.head_size
        queries = self.queries(x, block, latent)
        down = self.vectors.linear(x, f"{block}.key_value_down", sizes.hidden, latent.rank + latent.rotated_size)
        compressed, rotated = self.vectors.split(down, (latent.rank, latent.rotated_size), block)
        compressed = self.vectors.norm(compressed, f"{block}.key_value_norm", latent.rank, epsilon=EPSILON)
        expanded = self.vectors.linear(compressed, f"{block}.key_value_up", latent.rank, heads * (latent.plain_size + value_size))
        cosines, sines = self.inputs.rotation(rotary)
        if rotary.growth:
            queries = self.vectors.product(queries, self.inputs.growth(rotary))
        rotation = self.architecture.attention.rotation
        x = self.nodes.node(
            "LatentAttention",
            [queries, expanded, rotated, self.inputs.mask(0), self.inputs.beams, cosines, sines],
            self.vectors.name(block),
            heads * value_size,
            heads=heads,
            plain_size=latent.plain_size,
            layer=layer,
            scale=_scale(rotary, sizes.head_size),
            rotation=None if rotation == "halves" else rotation,
        )
        return self.vectors.linear(x, f"{block}.output", heads * value_size, sizes.hidden)

    def queries(self, x: SSAValue, block: str, latent: Latent) -> SSAValue:
        """The queries of all heads: a projection of x, or of a compressed vector of x if `latent.query_rank`
        is not 0.
        """
        sizes = self.configuration
        width = sizes.heads * sizes.head_size
        if not latent.query_rank:
            return self.vectors.linear(x, f"{block}.query", sizes.hidden, width)
        down = self.vectors.linear(x, f"{block}.query_down", sizes.hidden, latent.query_rank)
        down = self.vectors.norm(down, f"{block}.query_norm", latent.query_rank, epsilon=EPSILON)
        return self.vectors.linear(down, f"{block}.query_up", latent.query_rank, width)


def _scale(rotary: Rotary, size: int) -> float:
    """The factor of the scores: size^-0.5, times the square of YaRN's magnitude if the rotary scaling has
    `mscale_all_dim`.
    """
    all_dimensions, factor = rotary.parameters.get("mscale_all_dim"), rotary.parameters.get("factor")
    if rotary.scaling == "default" or not isinstance(all_dimensions, float) or not isinstance(factor, float) or not all_dimensions:
        return size**-0.5
    return size**-0.5 * magnitude(factor, all_dimensions) ** 2
