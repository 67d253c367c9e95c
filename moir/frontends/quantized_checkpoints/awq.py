"""AWQ (Lin et al., "AWQ", 2023), in the layout of AutoAWQ's GEMM kernels.

qweight i32 [K, N / 8], qzeros i32 [K / G, N / 8]    8 columns a word, in the order 0 2 4 6 1 3 5 7
scales  f16 [K / G, N]

weight[n, k] = scales[k / G, n] · (code[n, k] - zero[k / G, n])
"""

from __future__ import annotations

import numpy as np

from moir.architectures.stored_weight import StoredWeight
from moir.dialects.computed_rows import computed_rows
from moir.dialects.memory_map import Array
from moir.frontends.quantized_checkpoints.codes import PackedMatrix, codes_across_words, exact_scale, grouped, packed, zero_points
from moir.frontends.quantized_checkpoints.quantization import Layer, Settings

BITS = 4

POSITIONS = (0, 4, 1, 5, 2, 6, 3, 7)
"""The position in a word of each of the 8 columns that it contains."""


class AWQ:
    """The quantization method AWQ, with its settings. Raises ModelFileError for settings that are not supported."""

    def __init__(self, settings: Settings) -> None:
        bits, version = settings.integer("bits", "w_bit", default=BITS), settings.text("version", "gemm")
        self.group = settings.integer("group_size", "q_group_size", default=128)
        if bits != BITS or version != "gemm":
            raise settings.error(f"AWQ with {bits} bits in the layout {version!r} is not supported", "4 bits in the layout 'gemm' are")

    def weight(self, layer: Layer) -> StoredWeight | None:
        matrix = PackedMatrix.of(layer)
        if matrix is None:
            return None
        words, scales, zeros = matrix
        columns, rows = words.shape[0], words.shape[1] * len(POSITIONS)
        group = columns if self.group <= 0 else self.group
        groups = scales.shape[0]
        fits = groups * group == columns and scales.shape == (groups, rows) and zeros.shape == (groups, words.shape[1])
        matrix.expect_groups(layer, group, fits=fits and group % 2 == 0)
        codes = codes_across_words(words, BITS, POSITIONS)
        values = computed_rows(_pairs, [codes], (rows, columns // 2), np.uint8)
        return StoredWeight(
            grouped(values, BITS, (rows, groups, group)),
            exact_scale(scales.values.transpose((1, 0)), (rows, groups, 1)),
            zero_points(zeros, BITS, POSITIONS),
            is_grouped=True,
        )


def _pairs(codes: Array) -> Array:
    return packed(codes, BITS)


method = AWQ
