"""The table of MXNet lowerings, in which the family modules of this package register their handlers."""

from moir.lowering.mxnet.attributes import READERS
from moir.lowering.table import LoweringTable

mxnet = LoweringTable("mxnet", "moir.lowering.mxnet", readers=READERS, implied=frozenset(("workspace", "cudnn_tune", "cudnn_off")))
