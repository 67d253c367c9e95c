"""The table of MXNet lowerings, in which the family modules of this package register their handlers."""

from moir.lowering.mxnet.attributes import SymbolAttributes
from moir.lowering.table import LoweringTable

mxnet = LoweringTable("mxnet", "moir.lowering.mxnet", attributes_of=SymbolAttributes)
