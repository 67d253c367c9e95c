"""The nodes of a differential attention: half of the heads is subtracted from the other half."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.architectures.blocks.attention import AttentionNodes
from moir.architectures.record import Configuration, Rotary
from moir.errors import ModelFileError

FACTORS = ("query_1", "key_1", "query_2", "key_2")


class DifferentialAttentionNodes(AttentionNodes):
    """Appends the differential attention of a layer (Ye and others, "Differential Transformer", 2024).

    Head i of the values has those of heads i and i + half of the file, so that the value of a head is twice as large as
    its key. One attention computes both halves of the heads.
    """

    def value_width(self, sizes: Configuration) -> int:
        """The size of a value of one head."""
        return 2 * sizes.head_size

    def projected(self, x: SSAValue, block: str, sizes: Configuration) -> Sequence[SSAValue]:
        """The queries, keys and values of x. Raises ModelFileError for an odd number of key heads."""
        queries, keys, values = super().projected(x, block, sizes)
        if sizes.key_heads % 2:
            location = self.nodes.checkpoint.location
            raise ModelFileError(f"{sizes.key_heads} heads of keys are no pairs for a differential attention", location=location)
        parts = self.vectors.split(values, [sizes.head_size] * sizes.key_heads, f"{block}.value")
        half = sizes.key_heads // 2
        pairs = [each for pair in zip(parts[:half], parts[half:], strict=True) for each in pair]
        return queries, keys, self.vectors.concat(pairs * 2, f"{block}.value_pairs")

    def attended(self, projected: Sequence[SSAValue], layer: int, rotary: Rotary | None) -> SSAValue:
        """The first half of the heads minus a factor of the second one, normalized over each head:
        Difference(first, second, query_1, key_1, query_2, key_2) {start}
        """
        sizes, block = self.configuration.of_layer(layer), f"layers.{layer}.attention"
        width = sizes.heads * sizes.head_size
        halves = self.vectors.split(super().attended(projected, layer, rotary), (width, width), f"{block}.halves")
        start = 0.8 - 0.6 * math.exp(-0.3 * layer)
        weights = [self.nodes.weight(f"{block}.{each}", (sizes.head_size,)) for each in FACTORS]
        x = self.nodes.node("Difference", [*halves, *weights], f"{self.vectors.name(block)}.difference", width, start=start)
        return self.vectors.scaled(self.vectors.plain_norm(x, 2 * sizes.head_size), 1 - start)
