"""Hashes of values, as indices of bins.

    %y = keras.Hashing(%x) {num_bins = 5}
->  extension.StringToHashBucket of the strings, or of the digits of integers
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64, string
from moir.dialects.shapes import element_of
from moir.expansions.lookups import string_position
from moir.expansions.strings.hashes import bins
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.policies import computed_type
from moir.lowering.keras.preprocessing import check_salt, encoded
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder


@keras.lowers("Hashing")
def hashing(
    node: LoweringNode,
    op: OpBuilder,
    inputs: SSAValue,
    *,
    num_bins: int,
    mask_value: object | None = None,
    output_mode: str = "int",
) -> SSAValue:
    """keras.Hashing(x) {num_bins, mask_value} -> extension.StringToHashBucket(x), plus 1 if a mask value has bin 0"""
    check_salt(node)
    is_masked = mask_value is not None and num_bins > 1
    hashed = bins(op, inputs, num_bins - is_masked)
    if is_masked:
        masked = (
            op.GreaterEqual(string_position(op, inputs, [str(mask_value).encode()]), 0)
            if element_of(inputs) == string
            else op.Equal(inputs, node.integer("mask_value"))
        )
        hashed = op.Select(masked, op.constant(0, si64), op.Add(hashed, 1))
    if output_mode == "int":
        return hashed
    return encoded(node, op, hashed, output_mode, num_bins, computed_type(node))
