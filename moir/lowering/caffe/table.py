"""The table of Caffe lowerings, in which the family modules of this package register their handlers."""

from moir.lowering.table import LoweringTable

caffe = LoweringTable("caffe", "moir.lowering.caffe")
