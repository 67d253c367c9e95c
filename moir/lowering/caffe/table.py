"""The table of Caffe lowerings, in which the family modules of this package register their handlers."""

from moir.lowering.caffe.families import FAMILIES
from moir.lowering.table import LoweringTable

caffe = LoweringTable("caffe", {family: f"moir.lowering.caffe.{family}" for family in FAMILIES}, FAMILIES)
