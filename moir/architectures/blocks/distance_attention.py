"""The nodes of an attention whose scores depend on the distances of queries and keys, by their content."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.architectures.blocks.attention import AttentionNodes
from moir.dialects.data import DataAttr
from moir.dialects.element_types import f32, si64
from moir.dialects.shapes import tensor


class DistanceAttentionNodes(AttentionNodes):
    """Appends the attention of a layer with the terms that `AttentionBlock.distance_terms` names (He and others,
    "DeBERTa: Decoding-enhanced BERT with Disentangled Attention", 2021).
    """

    _embedded: SSAValue | None = None

    def scale(self, layer: int) -> float:
        """The factor of the scores of a layer: (head size * number of terms)^-0.5, whether the model has distances or
        not.
        """
        terms = 1 + len(self.architecture.attention.distance_terms)
        return (self.configuration.of_layer(layer).head_size * terms) ** -0.5

    def mask(self, projected: Sequence[SSAValue], layer: int, mask: SSAValue) -> SSAValue:
        """The mask of visible keys plus the terms of the scores that depend on distances.

        DistanceScores(mask, queries, keys, tokens, projected distances of keys, of queries) {heads, span, …}
        """
        sizes, kind = self.configuration, self.architecture.attention
        if sizes.distances is None:
            return mask
        block = f"layers.{layer}.attention"
        is_shared = kind.distance_projections == "shared"
        width = sizes.heads * sizes.head_size
        parts: dict[str, SSAValue | None] = {"c2p": None, "p2c": None}
        for term, part in (("c2p", "key"), ("p2c", "query")):
            if term in kind.distance_terms:
                name = f"{block}.{part}" if is_shared else f"{block}.distance_{part}"
                parts[term] = self.vectors.linear(self.embedded(), name, sizes.hidden, width)
        return self.nodes.nodes(
            "DistanceScores",
            [mask, projected[0], projected[1], self.inputs.tokens, parts["c2p"], parts["p2c"]],
            f"{self.vectors.name(block)}.distance_scores",
            [tensor((-1, sizes.heads, -1, -1), f32)],
            {"heads": sizes.heads, "span": sizes.distances.span, "longest": sizes.distances.longest or None, "scale": self.scale(layer)},
        )[0]

    def embedded(self) -> SSAValue:
        """The embeddings of all distances, [1, 2 * span, hidden]; later calls return the value of the first one."""
        if self._embedded is None:
            hidden, distances = self.configuration.hidden, self.configuration.distances
            assert distances is not None
            count = 2 * distances.span
            rows = self.nodes.constant(DataAttr.of(np.arange(count, dtype=np.int64)[None], si64), "distances")
            table = self.nodes.weight("distances.weight", (count, hidden))
            value = self.nodes.node("Embedding", [rows, table], self.vectors.name("distances"), hidden)
            self._embedded = self.vectors.norm(value, "distance_norm", hidden) if self.architecture.distance_norm else value
        return self._embedded
