"""Maps of sequences of bytes to others, in the binary form of SentencePiece, which OpenVINO Tokenizers reads.

    size of the trie u32, trie: units u32, texts: each ended by a zero byte

The trie is a double array: a unit has the label of the edge that leads to it and the distance to the block of its
children, child c being at `block ^ c`. Child 0 of a key's node is a leaf, whose value is the offset of a text.

Source: J. Aoe, "An Efficient Digital Search Algorithm by Using a Double-Array Structure", 1989; the layout of units of
darts-clone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

from moir.dialects.data import Array

_HAS_LEAF = 1 << 8
_LEAF = 1 << 31
_LARGEST_NEAR_OFFSET = 1 << 21


def character_map(entries: Mapping[bytes, bytes]) -> bytes:
    """The map of some keys, none of them empty or with a zero byte, to their texts."""
    texts = bytearray()
    offsets: dict[bytes, int] = {}
    values: dict[bytes, int] = {}
    for key, text in sorted(entries.items()):
        if text not in offsets:
            offsets[text] = len(texts)
            texts += text + b"\0"
        values[key] = offsets[text]
    trie = _DoubleArray(values).units.tobytes()
    return len(trie).to_bytes(4, "little") + trie + bytes(texts)


@cache
def lowercase_map() -> bytes:
    """The map of each character to its lower case, one character at a time: a final sigma is not treated specially."""
    capitals = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000 and chr(code).lower() != chr(code)]
    return character_map({capital.encode(): capital.lower().encode() for capital in capitals})


class _DoubleArray:
    """Builds the trie of some keys with values."""

    def __init__(self, values: Mapping[bytes, int]) -> None:
        self._labels: dict[int, int] = {}
        self._blocks: dict[int, int] = {}
        self._leaves: dict[int, int] = {}
        self._used = {0}
        self._bases: set[int] = set()
        self._start = 1
        keys = sorted(values)
        pending = [(0, 0, 0, len(keys))]
        while pending:
            node, depth, first, last = pending.pop()
            children: dict[int, tuple[int, int]] = {}
            for index in range(first, last):
                label = keys[index][depth] if len(keys[index]) > depth else 0
                children[label] = (children[label][0] if label in children else index, index + 1)
            block = self._place(node, list(children))
            self._blocks[node] = block
            for label, (begin, end) in children.items():
                child = block ^ label
                self._labels[child] = label
                if label:
                    pending.append((child, depth + 1, begin, end))
                else:
                    self._leaves[child] = values[keys[begin]]
        self.units = self._encoded()

    def _place(self, node: int, labels: list[int]) -> int:
        """The base offset for the children of a node: the first one at which the slots of all `labels` are free; these
        are reserved.
        """
        while self._start in self._used:
            self._start += 1
        unit = self._start
        while True:
            block = unit ^ labels[0]
            if (
                block
                and block not in self._bases
                and self._used.isdisjoint([block ^ label for label in labels])
                and _is_distance(node ^ block)
            ):
                break
            unit += 1
        self._bases.add(block)
        self._used.update([block ^ label for label in labels])
        return block

    def _encoded(self) -> Array:
        count = -(-(max(self._used) + 1) // 256) * 256
        units = np.zeros(count, np.uint32)
        for node, block in self._blocks.items():
            distance = node ^ block
            near = distance < _LARGEST_NEAR_OFFSET
            unit = self._labels.get(node, 0) | (distance << 10 if near else (distance << 2) | 1 << 9)
            units[node] = unit | (_HAS_LEAF if block in self._leaves else 0)
        for leaf, value in self._leaves.items():
            units[leaf] = value | _LEAF
        return units


def _is_distance(distance: int) -> bool:
    """Whether a unit of the double-array trie can encode an offset: 21 bits, or 29 bits of which the last eight
    are 0.
    """
    return distance < _LARGEST_NEAR_OFFSET or (distance < 1 << 29 and distance & 0xFF == 0)
