"""The table of ONNX lowerings, which the families of this package fill."""

from moir.passes.lowering import LoweringTable

onnx = LoweringTable("onnx")
