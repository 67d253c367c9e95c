"""GPTQ (Frantar et al., "GPTQ", 2022), in the layout of AutoGPTQ and GPTQModel.

qweight i32 [K · bits / 32, N]    codes along the columns, the first in the lowest bits
qzeros  i32 [K / G, N · bits / 32] zero points less 1 across the columns; as they are in `gptq_v2`
scales  f16 [K / G, N]
g_idx   i32 [K]                   the group of each column, if columns were sorted (`desc_act`)

weight[n, k] = scales[g_idx[k], n] · (code[n, k] - zero[g_idx[k], n])
"""

from __future__ import annotations

import numpy as np

from moir.architectures.stored_weight import StoredWeight
from moir.dialects import element_types
from moir.dialects.data import DataAttr
from moir.frontends.quantized_checkpoints.codes import WORD, PackedMatrix, codes_of_words, column_order, exact_scale, zero_points
from moir.frontends.quantized_checkpoints.quantization import Layer, Settings

BITS = (2, 4, 8)


class GPTQ:
    """The quantization method GPTQ, with its settings. Raises ModelFileError for settings that are not supported."""

    def __init__(self, settings: Settings) -> None:
        self.bits = settings.integer("bits", "w_bit")
        self.group = settings.integer("group_size", "q_group_size", default=-1)
        form = settings.text("checkpoint_format", "gptq")
        if self.bits not in BITS or form not in ("gptq", "gptq_v2"):
            raise settings.error(f"GPTQ with {self.bits} bits in the format {form!r} is not supported", "2, 4 and 8 bits are")
        self.added = 0 if form == "gptq_v2" else 1
        # A pattern with a minus is of layers that are not quantized.
        self.differs = any(not pattern.startswith("-") for pattern in settings.table("dynamic"))

    def weight(self, layer: Layer) -> StoredWeight | None:
        matrix = PackedMatrix.of(layer)
        if matrix is None:
            return None
        words, scales, zeros = matrix
        rows = words.shape[1]
        layer.expect(scales.element in element_types.REAL_TYPES, "scales are not floating-point numbers")
        groups = scales.shape[0]
        # Some layers may have settings of their own, by patterns of names: the shapes of the tensors determine them,
        # too.
        bits = zeros.shape[1] * WORD // rows if self.differs else self.bits
        layer.expect(bits in BITS, f"{bits} bits are not 2, 4 or 8")
        columns = words.shape[0] * WORD // bits
        group = columns // max(1, groups) if self.differs else columns if self.group <= 0 else self.group
        fits = groups * group == columns and scales.shape == (groups, rows) and zeros.shape == (groups, rows * bits // WORD)
        matrix.expect_groups(layer, group, fits=fits)
        order = column_order(layer.tensor("g_idx"), columns, group, layer)
        positions = tuple(range(WORD // bits))
        return StoredWeight(
            codes_of_words(words.T, bits, groups, order),
            exact_scale(scales.values.transpose((1, 0)), (rows, groups, 1)),
            zero_points(zeros, bits, positions, self.added),
            None if order is None else DataAttr.of(order.astype(np.int32)),
            is_grouped=True,
        )


method = GPTQ
