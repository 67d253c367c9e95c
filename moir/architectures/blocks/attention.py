"""The nodes of an attention: projections of queries, keys and values, their normalization, and the attention itself."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.architectures.blocks.token_block import TokenBlockNodes
from moir.architectures.inputs import ModelInputs
from moir.architectures.record import Architecture, Configuration, Rotary
from moir.architectures.vectors import VectorNodes
from moir.dialects.shapes import shape_of

SHARDS = 4
"""The number of parts into which the matrices of CodeGen are divided, one for each processor that trained it."""


class AttentionNodes(TokenBlockNodes):
    """Appends the attention of a layer to a network."""

    def __init__(self, architecture: Architecture, configuration: Configuration, vectors: VectorNodes, inputs: ModelInputs) -> None:
        super().__init__(architecture, configuration, vectors, inputs)
        self._computed: dict[int, tuple[SSAValue, SSAValue]] = {}

    def block(self, x: SSAValue, layer: int) -> SSAValue:
        """The result of the attention of a layer.

        Attention(queries, keys, values, mask, beams, cosines, sines, sinks) {heads, key_heads, …}

        Queries, keys and values are [batch, tokens, heads * size]; absent operands are those that the family does not
        have.
        """
        sizes, block = self.configuration.of_layer(layer), f"layers.{layer}.attention"
        if self.source(layer) != layer:
            return self.shared(x, layer)
        queries, keys, values = self.projected(x, block, sizes)
        if self.architecture.attention.query_value_bias:
            queries, values = self.biased(queries, f"{block}.query_bias"), self.biased(values, f"{block}.value_bias")
        kind, gates, gate_count = self.architecture.attention, None, sizes.heads * (sizes.value_size or sizes.head_size)
        if kind.gate in ("separate", "per head"):
            gates = self.vectors.linear(x, f"{block}.gate", sizes.hidden, sizes.heads if kind.gate == "per head" else gate_count)
        if kind.gate == "with queries":
            queries, gates = self.vectors.split(queries, (sizes.head_size, sizes.head_size), block, sizes.heads)
        rotary = self.rotary(layer)
        if "keys" in sizes.factors:
            keys = self.vectors.scaled(keys, sizes.factors["keys"])
        if "values" in sizes.factors:
            values = self.vectors.scaled(values, sizes.factors["values"])
        query_norm = kind.query_norm
        is_rotated = query_norm in ("rotated head", "rotated only")
        if is_rotated and rotary is not None:
            queries, keys = self.rotated(queries, rotary, sizes.heads), self.rotated(keys, rotary, sizes.key_heads)
        if query_norm == "rotated only":
            if rotary is not None:
                queries, keys = (self.vectors.plain_norm(each, sizes.head_size) for each in (queries, keys))
        else:
            queries, keys = self.normalized(queries, keys, block, sizes)
        if kind.value_norm:
            values = self.vectors.plain_norm(values, sizes.value_size or sizes.head_size)
        if layer in self.configuration.sources:
            self._computed[layer] = (keys, values)
        if sizes.clip:
            queries, keys, values = (
                self.nodes.nodes("Clip", [each], "", [each.type], {"bound": sizes.clip})[0] for each in (queries, keys, values)
            )
        if rotary is not None and rotary.growth:
            queries = self.vectors.product(queries, self.inputs.growth(rotary))
        if rotary is None and sizes.query_growth:
            queries = self.vectors.product(queries, self.inputs.index_growth(sizes.query_growth, sizes.growth_length))
        x = self.attended([queries, keys, values], layer, None if is_rotated else rotary)
        if gates is not None:
            x = self.vectors.gated(x, gates, kind.gate_activation, sizes.heads if kind.gate == "per head" else 1)
        if kind.output_norm:
            x = self.vectors.norm(x, f"{block}.inner_norm", sizes.heads * (sizes.value_size or sizes.head_size))
        return self.output(x, block, sizes)

    def source(self, layer: int) -> int:
        """The index of the layer whose keys and values a layer uses; often the layer itself."""
        return self.configuration.sources[layer] if self.configuration.sources else layer

    def shared(self, x: SSAValue, layer: int) -> SSAValue:
        """The result of the attention of a layer that reuses the keys and values of layer `source(layer)`.

        The layer has a key-value cache of its own all the same: targets execute one cache with one attention as one
        operation, but not a cache that several attentions share.
        """
        sizes, block = self.configuration.of_layer(layer), f"layers.{layer}.attention"
        queries = self.vectors.linear(x, f"{block}.query", sizes.hidden, sizes.heads * sizes.head_size)
        queries = self.normed_heads(queries, f"{block}.query_norm", sizes.heads, sizes)
        x = self.attended([queries, *self._computed[self.source(layer)]], layer, self.rotary(layer))
        return self.output(x, block, sizes)

    def rotary(self, layer: int) -> Rotary | None:
        """The rotary embedding of a layer; None if it has none."""
        sizes = self.configuration
        return sizes.rotary[layer] if self.architecture.attention.rotation is not None and sizes.rotary else None

    def rotated(self, x: SSAValue, rotary: Rotary, heads: int) -> SSAValue:
        """Queries or keys after their rotation: Rotate(x, cosines, sines) {heads, rotation}"""
        rotation = self.architecture.attention.rotation
        properties = {"heads": heads, "rotation": None if rotation == "halves" else rotation}
        return self.nodes.nodes("Rotate", [x, *self.inputs.rotation(rotary)], "", [x.type], properties)[0]

    def attended(self, projected: Sequence[SSAValue], layer: int, rotary: Rotary | None) -> SSAValue:
        """Append the operation Attention of a layer to the projected queries, keys and values; returns its result.

        `rotary` is None for a layer without rotary embedding.
        """
        sizes, kind, block = self.configuration.of_layer(layer), self.architecture.attention, f"layers.{layer}.attention"
        window = sizes.windows[layer] if sizes.windows else 0
        chunk = sizes.chunks[layer] if sizes.chunks else 0
        cosines, sines = (None, None) if rotary is None else self.inputs.rotation(rotary)
        has_sinks = kind.sinks and (window > 0 or not kind.sinks_need_window)
        sinks = self.nodes.weight(f"{block}.sinks", (sizes.heads,)) if has_sinks else None
        scale = self.scale(layer)
        mask = self.mask(projected, layer, self.inputs.mask(window, chunk))
        operands = [*projected, mask, self.inputs.beams, cosines, sines, sinks]
        alibi_mask = None if kind.alibi is None else self.inputs.attention_mask
        return self.nodes.node(
            "Attention",
            [*operands, alibi_mask],
            self.vectors.name(block),
            sizes.heads * self.value_width(sizes),
            heads=sizes.heads,
            key_heads=sizes.key_heads if sizes.key_heads != sizes.heads else None,
            layer=layer,
            scale=scale,
            window=window or None,
            chunk=chunk or None,
            cap=sizes.attention_cap or None,
            rotation=None if rotary is None or kind.rotation == "halves" else kind.rotation,
            alibi=kind.alibi,
            alibi_bias=sizes.sizes.get("alibi_bias"),
            padded_heads=self.padded_heads(sizes),
        )

    def value_width(self, sizes: Configuration) -> int:
        """The size of a value of one head in the attention itself."""
        return sizes.value_size or sizes.head_size

    def scale(self, layer: int) -> float:
        """The factor of the scores of a layer."""
        sizes = self.configuration.of_layer(layer)
        scale = sizes.head_size**-0.5 if sizes.attention_scale is None else sizes.attention_scale
        return scale / (layer + 1) if sizes.scales_by_layer else scale

    def mask(self, _projected: Sequence[SSAValue], _layer: int, mask: SSAValue) -> SSAValue:
        """What is added to the scores of a layer, from its queries, keys and values and the mask of visible keys: the
        mask.
        """
        return mask

    def biased(self, x: SSAValue, block: str) -> SSAValue:
        """Append x plus the vector of a block."""
        width = (shape_of(x) or (-1,))[-1]
        return self.nodes.nodes("Add", [x, self.nodes.weight(block, (width,))], self.vectors.name(block), [x.type], {})[0]

    def padded_heads(self, sizes: Configuration) -> int | None:
        """The largest number of query heads of all layers, to which this layer's heads are padded.

        None if this layer has that many, or the number is not a multiple of this layer's key heads.
        """
        most = max((each.get("heads", self.configuration.heads) for each in self.configuration.layer_fields), default=sizes.heads)
        return most if most != sizes.heads and not most % sizes.key_heads else None

    def projected(self, x: SSAValue, block: str, sizes: Configuration) -> Sequence[SSAValue]:
        """The queries, keys and values of x: three Linear operations, or one whose result is split, as
        `AttentionBlock.packing` says.

        The values are the keys if the configuration has `values_are_keys`.
        """
        packing, hidden = self.architecture.attention.packing, sizes.hidden
        queries = sizes.heads * sizes.head_size * (2 if self.architecture.attention.gate == "with queries" else 1)
        widths = (queries, sizes.key_heads * sizes.head_size, sizes.key_heads * (sizes.value_size or sizes.head_size))
        if packing == "separate":
            parts = ("query", "key", "value")
            named = list(zip(parts, widths, strict=True))[: 2 if sizes.values_are_keys else 3]
            products = [self.vectors.linear(x, f"{block}.{part}", hidden, width) for part, width in named]
            return [*products, products[1]] if sizes.values_are_keys else products
        product = self.vectors.linear(x, f"{block}.query_key_value", hidden, sum(widths))
        if packing == "four shards":
            queries, values, keys = self.vectors.split(product, [width // SHARDS for width in widths], block, SHARDS)
            return queries, keys, values
        groups = {"stacked": 1, "per head": sizes.heads, "per group": sizes.key_heads}[packing]
        return self.vectors.split(product, [width // groups for width in widths], block, groups)

    def normalized(self, queries: SSAValue, keys: SSAValue, block: str, sizes: Configuration) -> tuple[SSAValue, SSAValue]:
        """Queries and keys after their normalization; both unchanged if the family has none."""
        if self.architecture.attention.query_norm is None:
            return queries, keys
        normed = self.normed_heads(queries, f"{block}.query_norm", sizes.heads, sizes)
        return normed, self.normed_heads(keys, f"{block}.key_norm", sizes.key_heads, sizes)

    def normed_heads(self, x: SSAValue, block: str, heads: int, sizes: Configuration) -> SSAValue:
        """Queries or keys x after the normalization with the weights of `block`: over each head, or over all heads
        together.
        """
        attention = self.architecture.attention
        size = heads * sizes.head_size if attention.query_norm == "whole" else sizes.head_size
        shape = (heads, sizes.head_size) if attention.query_norm == "per head" else None
        return self.vectors.norm(x, block, size, attention.query_norm_kind, shape)

    def output(self, x: SSAValue, block: str, sizes: Configuration) -> SSAValue:
        """The output projection of the attention: the concatenated heads x times the matrix "{block}.output.weight".

        Its bias is added if the configuration lists one. `sizes` are the sizes of the layer.
        """
        return self.vectors.linear(x, f"{block}.output", sizes.heads * (sizes.value_size or sizes.head_size), sizes.hidden)
