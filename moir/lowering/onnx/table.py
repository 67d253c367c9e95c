"""The table of ONNX lowerings, which the families of this package fill."""

from moir.lowering.driver import LoweringTable
from moir.lowering.onnx.families import FAMILIES

onnx = LoweringTable("onnx", {family: f"moir.lowering.onnx.{family}" for family in FAMILIES}, FAMILIES)
