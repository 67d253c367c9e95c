"""MXFP4 (Open Compute Project, "Microscaling Formats", 2023), as gpt-oss stores its experts.

gate_up_proj_blocks u8 [E, 2 f, h / 32, 16]    two numbers e2m1 in a byte, the first in the low bits
gate_up_proj_scales u8 [E, 2 f, h / 32]        exponents

weight[e, n, k] = number[e, n, k] · 2 ^ (scale[e, n, k / 32] - 127)

Both are constants of f4e2m1 and f8e8m0 as they are: views of the file.
"""

from __future__ import annotations

from moir.architectures.stored_weight import StoredWeight
from moir.dialects import element_types
from moir.frontends.quantized_checkpoints.codes import nibbles
from moir.frontends.quantized_checkpoints.quantization import Layer, Settings
from moir.frontends.quantized_checkpoints.scaled_floats import exponents


class MXFP4:
    """The quantization method MXFP4, which has no settings."""

    def __init__(self, settings: Settings) -> None:
        del settings

    def weight(self, layer: Layer) -> StoredWeight | None:
        blocks = layer.tensor("blocks")
        if blocks is None:
            return None
        scales = layer.required("scales")
        layer.expect(
            len(blocks.shape) in (3, 4) and blocks.element == scales.element == element_types.ui8 and scales.shape == blocks.shape[:-1],
            f"blocks {list(blocks.shape)} and scales {list(scales.shape)} do not fit together",
        )
        shape = (*blocks.shape[:-1], 2 * blocks.shape[-1])
        return StoredWeight(nibbles(blocks, element_types.f4e2m1, shape), exponents(scales, shape), is_grouped=True)


method = MXFP4
