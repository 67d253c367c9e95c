"""The types of tensors in GGUF files: names, bytes and weights of a block.

Source: `enum ggml_type` and ggml-quants.h of ggml.
"""

from __future__ import annotations

from moir.records import Record


class TensorType(Record):
    """A type of tensors.

    Args:
        name: its name, as in the names of files.
        bytes: the size of a block in bytes.
        weights: the number of weights of a block; 1 for plain numbers.
    """

    name: str
    bytes: int
    weights: int


_TABLE = """
0 F32 4 1, 1 F16 2 1, 2 Q4_0 18 32, 3 Q4_1 20 32, 6 Q5_0 22 32, 7 Q5_1 24 32, 8 Q8_0 34 32, 9 Q8_1 36 32, 10 Q2_K 84 256, 11 Q3_K 110 256,
12 Q4_K 144 256, 13 Q5_K 176 256, 14 Q6_K 210 256, 15 Q8_K 292 256, 16 IQ2_XXS 66 256, 17 IQ2_XS 74 256, 18 IQ3_XXS 98 256, 19 IQ1_S 50 256,
20 IQ4_NL 18 32, 21 IQ3_S 110 256, 22 IQ2_S 82 256, 23 IQ4_XS 136 256, 24 I8 1 1, 25 I16 2 1, 26 I32 4 1, 27 I64 8 1, 28 F64 8 1,
29 IQ1_M 56 256, 30 BF16 2 1, 34 TQ1_0 54 256, 35 TQ2_0 66 256, 39 MXFP4 17 32
"""

TENSOR_TYPES = {
    int(number): TensorType(name, int(size), int(weights)) for number, name, size, weights in (row.split() for row in _TABLE.split(","))
}
"""The types by their numbers."""

TYPES_BY_NAME = {each.name: each for each in TENSOR_TYPES.values()}
"""The types by their names."""
