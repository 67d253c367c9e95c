"""The operations of multi-head latent attention: keys and values are projections of one small vector for each token."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.architectures.blocks.token_block import TokenBlockNodes
from moir.architectures.record import KeyIndex, Latent, Rotary
from moir.architectures.yarn import magnitude
from moir.dialects.element_types import f32
from moir.dialects.shapes import tensor

EPSILON = 1e-6
"""The epsilon of the normalizations of compressed vectors; config.json has only the epsilon of the other
normalizations.
"""


class LatentAttentionNodes(TokenBlockNodes):
    """Appends the latent attention of a layer to a network (DeepSeek-AI, "DeepSeek-V2", 2024)."""

    _mask: SSAValue | None = None

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
        queries, compressed_queries = self.queries(x, block, latent)
        down = self.vectors.linear(x, f"{block}.key_value_down", sizes.hidden, latent.rank + latent.rotated_size)
        compressed, rotated = self.vectors.split(down, (latent.rank, latent.rotated_size), block)
        compressed = self.vectors.norm(compressed, f"{block}.key_value_norm", latent.rank, epsilon=EPSILON)
        expanded = self.vectors.linear(compressed, f"{block}.key_value_up", latent.rank, heads * (latent.plain_size + value_size))
        cosines, sines = self.inputs.rotation(rotary)
        if rotary.growth:
            queries = self.vectors.product(queries, self.inputs.growth(rotary))
        rotation = self.architecture.attention.rotation
        mask = self.inputs.mask(0)
        if sizes.key_index is not None:
            mask = self.indexed_mask(x, compressed_queries, layer, sizes.key_index, (cosines, sines))
        x = self.nodes.node(
            "LatentAttention",
            [queries, expanded, rotated, mask, self.inputs.beams, cosines, sines],
            self.vectors.name(block),
            heads * value_size,
            heads=heads,
            plain_size=latent.plain_size,
            layer=layer,
            scale=_scale(rotary, sizes.head_size),
            rotation=None if rotation == "halves" else rotation,
            is_sparse=sizes.key_index is not None or None,
        )
        return self.vectors.linear(x, f"{block}.output", heads * value_size, sizes.hidden)

    def indexed_mask(self, x: SSAValue, compressed: SSAValue, layer: int, index: KeyIndex, rotation: tuple[SSAValue, SSAValue]) -> SSAValue:
        """The mask of the keys that a layer with `index` sees, often that of the layer before it.

        IndexedMask(mask, queries, keys, weights, beams, cosines, sines) {heads, count, scale, layer, rotation}

        Args:
            x: the value that the layer attends to.
            compressed: the compressed queries.
            layer: the index of the layer.
            index: the sizes of what chooses the keys.
            rotation: the cosines and sines of the angles.
        """
        if self._mask is not None and not index.layers[layer]:
            return self._mask
        sizes, block = self.configuration, f"layers.{layer}.attention.index"
        assert sizes.latent is not None
        queries = self.vectors.linear(compressed, f"{block}.query", sizes.latent.query_rank, index.heads * index.size)
        keys = self.vectors.linear(x, f"{block}.key", sizes.hidden, index.size)
        weight, bias = (self.nodes.weight(f"{block}.key_norm.{kind}", (index.size,)) for kind in ("weight", "bias"))
        properties = {"epsilon": EPSILON, "part": index.size}
        keys = self.nodes.nodes("LayerNorm", [keys, weight, bias], self.vectors.name(f"{block}.key_norm"), [keys.type], properties)[0]
        weights = self.vectors.linear(x, f"{block}.weights", sizes.hidden, index.heads)
        kind = self.architecture.attention.index_rotation
        self._mask = self.nodes.nodes(
            "IndexedMask",
            [self.inputs.mask(0), queries, keys, weights, self.inputs.beams, *rotation],
            self.vectors.name(block),
            [tensor((-1, 1, -1, -1), f32)],
            {
                "heads": index.heads,
                "count": index.count,
                "scale": (index.heads * index.size) ** -0.5,
                "layer": layer,
                "rotation": None if kind == "halves" else kind,
            },
        )[0]
        return self._mask

    def queries(self, x: SSAValue, block: str, latent: Latent) -> tuple[SSAValue, SSAValue]:
        """The queries of all heads, and that of which they are a projection: x, or a compressed vector of x if
        `latent.query_rank` is not 0.
        """
        sizes = self.configuration
        width = sizes.heads * sizes.head_size
        if not latent.query_rank:
            return self.vectors.linear(x, f"{block}.query", sizes.hidden, width), x
        down = self.vectors.linear(x, f"{block}.query_down", sizes.hidden, latent.query_rank)
        down = self.vectors.norm(down, f"{block}.query_norm", latent.query_rank, epsilon=EPSILON)
        return self.vectors.linear(down, f"{block}.query_up", latent.query_rank, width), down


def _scale(rotary: Rotary, size: int) -> float:
    """The factor of the scores: size^-0.5, times the square of YaRN's magnitude if the rotary scaling has
    `mscale_all_dim`.
    """
    all_dimensions, factor = rotary.parameters.get("mscale_all_dim"), rotary.parameters.get("factor")
    if rotary.scaling == "default" or not isinstance(all_dimensions, float) or not isinstance(factor, float) or not all_dimensions:
        return size**-0.5
    return size**-0.5 * magnitude(factor, all_dimensions) ** 2
