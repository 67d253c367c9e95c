"""The table of ONNX lowerings, which the families of this package fill."""

from moir.lowering.onnx.families import FAMILIES
from moir.lowering.table import LoweringTable

onnx = LoweringTable("onnx", {family: f"moir.lowering.onnx.{family}" for family in FAMILIES}, FAMILIES)
