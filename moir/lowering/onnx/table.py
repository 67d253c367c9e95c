"""The table of ONNX lowerings, in which the family modules of this package register their handlers."""

from moir.lowering.onnx.families import FAMILIES
from moir.lowering.table import LoweringTable

onnx = LoweringTable(
    "onnx",
    {family: f"moir.lowering.onnx.{family}" for family in FAMILIES},
    FAMILIES,
    finish="moir.lowering.onnx.sequence_outputs:split_sequences",
)
