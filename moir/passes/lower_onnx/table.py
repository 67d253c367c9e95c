"""The table of ONNX lowerings, which the families of this package fill."""

from moir.passes.lower_onnx.families import FAMILIES
from moir.passes.lowering import LoweringTable

onnx = LoweringTable("onnx", {family: f"moir.passes.lower_onnx.{family}" for family in FAMILIES}, FAMILIES)
