"""The table of MXNet lowerings, in which the family modules of this package register their handlers."""

from moir.lowering.mxnet.families import FAMILIES
from moir.lowering.table import LoweringTable

mxnet = LoweringTable("mxnet", {family: f"moir.lowering.mxnet.{family}" for family in FAMILIES}, FAMILIES)
