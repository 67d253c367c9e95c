"""The inputs of a language model, and what its layers share: masks, positions, rotations.

Each is built when a layer first asks for it.
"""

from __future__ import annotations

import math

import numpy as np
from xdsl.ir import SSAValue

from moir.architectures.nodes import NodeList
from moir.architectures.record import Architecture, Configuration, Rotary
from moir.dialects.data import DataAttr
from moir.dialects.element_types import f32, si32, si64
from moir.dialects.shapes import tensor


class ModelInputs:
    """The inputs of a model.

        input_ids, attention_mask, position_ids (where the family has positions), beam_idx      a generating model
        input_ids, attention_mask, token_type_ids (where the family has types)                  an encoder

    Args:
        architecture: the record of the family.
        configuration: the sizes of the model.
        nodes: the operations of the network.
    """

    def __init__(self, architecture: Architecture, configuration: Configuration, nodes: NodeList) -> None:
        self.architecture = architecture
        self.configuration = configuration
        self.nodes = nodes
        generates = architecture.task == "generation"
        self.tokens = nodes.parameter("input_ids", (-1, -1), si64)
        self.attention_mask = nodes.parameter("attention_mask", (-1, -1), si64)
        takes_positions = generates and architecture.takes_positions
        self.positions = nodes.parameter("position_ids", (-1, -1), si64) if takes_positions else None
        self._types = nodes.parameter("token_type_ids", (-1, -1), si64) if configuration.types > 1 and not generates else None
        self.beams = nodes.parameter("beam_idx", (-1,), si32) if generates else None
        self._masks: dict[tuple[int, int], SSAValue] = {}
        self._rotations: list[tuple[Rotary, tuple[SSAValue, SSAValue]]] = []
        self._slopes: SSAValue | None = None
        self._growth: SSAValue | None = None
        self._index_growth: SSAValue | None = None

    def mask(self, window: int, chunk: int = 0) -> SSAValue:
        """The mask of a layer whose queries see the last `window` keys, or those of their own chunk of `chunk` tokens.

        0 is for all keys. CausalMask(attention_mask, tokens) {window, chunk}, or Mask(attention_mask, tokens) {window}
        of an encoder, where a query sees keys on both sides.
        """
        if self.architecture.attention.has_position_bias:
            return self._biased_mask()
        if (window, chunk) not in self._masks:
            kind = "CausalMask" if self.architecture.task == "generation" else "Mask"
            name = f"sliding_mask_{window}" if window else f"chunked_mask_{chunk}" if chunk else "mask"
            types = [tensor((-1, 1, -1, -1), f32)]
            properties = {"window": window or None, "chunk": chunk or None}
            self._masks[window, chunk] = self.nodes.nodes(kind, [self.attention_mask, self.tokens], name, types, properties)[0]
        return self._masks[window, chunk]

    def _biased_mask(self) -> SSAValue:
        """The mask of all layers of a model whose scores have a bias for each head and distance: PositionBias(Mask(…),
        tokens, table)
        """
        if not self._masks:
            types = [tensor((-1, 1, -1, -1), f32)]
            mask = self.nodes.nodes("Mask", [self.attention_mask, self.tokens], "mask", types, {})[0]
            heads = self.configuration.heads
            table = self.nodes.weight("position_bias.weight", (self.configuration.sizes["position_buckets"], heads))
            types = [tensor((-1, heads, -1, -1), f32)]
            self._masks[0, 0] = self.nodes.nodes("PositionBias", [mask, self.tokens, table], "position_bias", types, {})[0]
        return self._masks[0, 0]

    def unpadded(self, x: SSAValue) -> SSAValue:
        """x with the features of padding tokens set to 0: MaskPadding(x, attention_mask, tokens)"""
        return self.nodes.nodes("MaskPadding", [x, self.attention_mask, self.tokens], "", [x.type], {})[0]

    def rotation(self, rotary: Rotary) -> tuple[SSAValue, SSAValue]:
        """Cosines and sines [batch, 1, tokens, size] of the angles of a rotary embedding."""
        for each, values in self._rotations:
            if each == rotary:
                return values
        positions = self.positions
        if positions is None:
            positions = self.nodes.nodes("Positions", [self.tokens], "positions", [tensor((1, -1), si64)], {})[0]
        kinds = {key: value for key, value in rotary.parameters.items() if value is not None}
        properties = {"size": rotary.size, "theta": float(rotary.theta), "scaling": rotary.scaling, **kinds}
        if rotary.divisors:
            properties["divisors"] = list(rotary.divisors)
        types = [tensor((-1, 1, -1, rotary.size), f32)] * 2
        name = "rotary_emb" if not self._rotations else f"rotary_emb_{len(self._rotations)}"
        cosines, sines = self.nodes.nodes("RotaryEmbedding", [positions], name, types, properties)
        self._rotations.append((rotary, (cosines, sines)))
        return cosines, sines

    def growth(self, rotary: Rotary) -> SSAValue:
        """The factors by which queries are scaled, [batch, tokens, 1]: 1 + growth · ln(1 + floor(position / length)).

        LengthFactor(positions) {growth, length}; growth and length are those of `rotary`. Later calls return the value
        of the first one.
        """
        if self._growth is None:
            assert self.positions is not None
            properties = {"growth": rotary.growth, "length": rotary.parameters["original_max_position_embeddings"]}
            types = [tensor((-1, -1, 1), f32)]
            self._growth = self.nodes.nodes("LengthFactor", [self.positions], "length_factor", types, properties)[0]
        return self._growth

    def index_growth(self, growth: float, length: float) -> SSAValue:
        """The factors by which queries are scaled, [1, tokens, 1]: 1 + growth · ln(1 + floor((index + 1) / length)),
        where index is that of the token in the cache.

        LengthFactor(TokenIndices(attention_mask, tokens)) {growth, length, shift = 1}. Later calls return the value of
        the first one.
        """
        if self._index_growth is None:
            indices = self.nodes.nodes("TokenIndices", [self.attention_mask, self.tokens], "token_indices", [tensor((1, -1), si64)], {})
            properties = {"growth": growth, "length": length, "shift": 1}
            types = [tensor((1, -1, 1), f32)]
            self._index_growth = self.nodes.nodes("LengthFactor", indices, "index_factor", types, properties)[0]
        return self._index_growth

    def learned_rows(self, kind: str, offset: int) -> SSAValue:
        """The row of the table of learned positions for each token.

        Args:
            kind: how positions are counted, as in `Architecture.learned_positions`; `row` for 0, 1, … whatever the
                mask.
            offset: the row of position 0; not read for `unpadded` and `row`.
        """
        types = [tensor((-1, -1), si64)]
        if kind == "input":
            assert self.positions is not None
            return (
                self.nodes.nodes("Positions", [self.positions], "learned_positions", types, {"offset": offset})[0]
                if offset
                else self.positions
            )
        if kind == "unpadded":
            properties = {"offset": self.configuration.padding, "padding": self.configuration.padding}
            return self.nodes.nodes("UnpaddedPositions", [self.tokens], "learned_positions", types, properties)[0]
        if kind == "row":
            return self.nodes.nodes("Positions", [self.tokens], "learned_positions", [tensor((1, -1), si64)], {})[0]
        return self.nodes.nodes("CountedPositions", [self.attention_mask, self.tokens], "learned_positions", types, {"offset": offset})[0]

    def sinusoids(self, shape: tuple[int, int]) -> SSAValue:
        """A constant table of positions, of `shape`: sines and cosines of angles 10000^(-i / (half - 1)) · position.

        The row of the padding token is 0.
        """
        rows, half = shape[0], shape[1] // 2
        steps = np.exp(np.arange(half, dtype=np.float32) * np.float32(-math.log(10000) / max(half - 1, 1)))
        angles = np.arange(rows, dtype=np.float32)[:, None] * steps
        table = np.zeros(shape, np.float32)
        table[:, :half], table[:, half : 2 * half] = np.sin(angles), np.cos(angles)
        table[self.configuration.padding : self.configuration.padding + 1] = 0
        return self.nodes.constant(DataAttr.of(table, f32), "positions")

    def types(self) -> SSAValue:
        """The token types: the input `token_type_ids`, or 0 for each token if the model has no such input."""
        return self.first_types("types") if self._types is None else self._types

    def first_types(self, name: str) -> SSAValue:
        """Token type 0 for each token: FirstTypes(tokens). `name` is the name of the operation."""
        return self.nodes.nodes("FirstTypes", [self.tokens], name, [tensor((-1, -1), si64)], {})[0]
