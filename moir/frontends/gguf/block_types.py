"""The types of tensors: plain numbers, and blocks of quantized values (codes) with their scales and minima.

    value = (code - zero point) * scale        scale · code + minimum, where the zero point is -minimum / scale

The codes of a file are kept as they are. A zero point is a fraction in f32, so that such a value differs from the
definition by the rounding of one operation in f32; without a minimum it is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from xdsl.ir import Attribute

from moir.dialects import element_types
from moir.dialects.element_types import f4e2m1, f8e8m0, f16, f32, si4, si8, ui2, ui4, ui8
from moir.dialects.memory_map import Array
from moir.frontends.gguf import blocks_of_32, blocks_of_256
from moir.support.records import Record

Part = Callable[[Array], Array]
"""A function of blocks u8 [rows …, blocks, bytes of a block]."""


class BlockType(Record):
    """A type of tensors: how a block of numbers of a row is stored.

    Args:
        name: its name in llama.cpp.
        size: the size of a block in bytes.
        count: how many numbers a block has.
        element: the element type of the quantized values, or of the numbers.
        group: how many numbers share a scale; 0 for numbers without scale.
        codes: computes the quantized values of blocks, [rows …, blocks, groups, bytes of a group], of elements below 8
            bits packed as in constants of the IR; None for plain numbers.
        scale: computes the scales [rows …, blocks, groups], f16, f32, or u8 for f8e8m0; None for plain numbers.
        minimum: computes the minima in this shape, f32; None if there are none.
        scale_element: the element type of the scales.
    """

    name: str
    size: int
    count: int
    element: Attribute
    group: int = 0
    codes: Part | None = None
    scale: Part | None = None
    minimum: Part | None = None
    scale_element: Attribute = f32


def _numbers(name: str, element: Attribute) -> BlockType:
    return BlockType(name, element_types.describe(element).bits // 8, 1, element)


_OF_32 = (
    BlockType("Q4_0", 18, 32, si4, 32, blocks_of_32.codes_q4_0, blocks_of_32.half, scale_element=f16),
    BlockType("Q4_1", 20, 32, ui4, 32, blocks_of_32.codes_q4_1, blocks_of_32.scale, blocks_of_32.minimum),
    BlockType("Q5_0", 22, 32, si8, 32, blocks_of_32.codes_q5_0, blocks_of_32.half, scale_element=f16),
    BlockType("Q5_1", 24, 32, ui8, 32, blocks_of_32.codes_q5_1, blocks_of_32.scale, blocks_of_32.minimum),
    BlockType("Q8_0", 34, 32, si8, 32, blocks_of_32.codes_q8_0, blocks_of_32.half, scale_element=f16),
    BlockType("IQ4_NL", 18, 32, si8, 32, blocks_of_32.codes_iq4_nl, blocks_of_32.half, scale_element=f16),
    BlockType("MXFP4", 17, 32, f4e2m1, 32, blocks_of_32.codes_mxfp4, blocks_of_32.exponents, scale_element=f8e8m0),
)

_OF_256 = (
    BlockType("Q2_K", 84, 256, ui2, 16, blocks_of_256.codes_q2_k, blocks_of_256.scale_q2_k, blocks_of_256.minimum_q2_k),
    BlockType("Q3_K", 110, 256, si4, 16, blocks_of_256.codes_q3_k, blocks_of_256.scale_q3_k),
    BlockType("Q4_K", 144, 256, ui4, 32, blocks_of_256.codes_q4_k, blocks_of_256.scale_q4_k, blocks_of_256.minimum_q4_k),
    BlockType("Q5_K", 176, 256, ui8, 32, blocks_of_256.codes_q5_k, blocks_of_256.scale_q4_k, blocks_of_256.minimum_q4_k),
    BlockType("Q6_K", 210, 256, si8, 16, blocks_of_256.codes_q6_k, blocks_of_256.scale_q6_k),
    BlockType("Q8_K", 292, 256, si8, 256, blocks_of_256.codes_q8_k, blocks_of_256.scale_q8_k),
    BlockType("IQ4_XS", 136, 256, si8, 32, blocks_of_256.codes_iq4_xs, blocks_of_256.scale_iq4_xs),
)

_PLAIN = (_numbers("F32", f32), _numbers("F16", f16), _numbers("BF16", element_types.bf16))

_NUMBERS = {
    0: "F32",
    1: "F16",
    2: "Q4_0",
    3: "Q4_1",
    6: "Q5_0",
    7: "Q5_1",
    8: "Q8_0",
    10: "Q2_K",
    11: "Q3_K",
    12: "Q4_K",
    13: "Q5_K",
    14: "Q6_K",
    15: "Q8_K",
    20: "IQ4_NL",
    23: "IQ4_XS",
    30: "BF16",
    39: "MXFP4",
}

REFUSED: Mapping[int, str] = MappingProxyType(
    {
        9: "Q8_1",
        16: "IQ2_XXS",
        17: "IQ2_XS",
        18: "IQ3_XXS",
        19: "IQ1_S",
        21: "IQ3_S",
        22: "IQ2_S",
        24: "I8",
        25: "I16",
        26: "I32",
        27: "I64",
        28: "F64",
        29: "IQ1_M",
        34: "TQ1_0",
        35: "TQ2_0",
        40: "NVFP4",
        41: "Q1_0",
    }
)
"""The names of the types that are not read, by their numbers: codes of no element type of the IR, or of no weights."""

_BY_NAME = {each.name: each for each in (*_PLAIN, *_OF_32, *_OF_256)}

TABLES: Mapping[str, BlockType] = MappingProxyType(
    {"Q2_K": _BY_NAME["Q2_K"].with_fields(element=ui4, codes=partial(blocks_of_256.codes_q2_k, bits=4))}
)
"""The types as which tables of embeddings are stored: tables of two-bit codes would be expanded."""

TYPES: Mapping[int, BlockType] = MappingProxyType({number: _BY_NAME[name] for number, name in _NUMBERS.items()})
"""The types by their numbers in files."""
