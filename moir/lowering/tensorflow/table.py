"""The table of TensorFlow lowerings, which the families of this package fill."""

from moir.lowering.driver import LoweringTable
from moir.lowering.tensorflow.families import FAMILIES

tf = LoweringTable("tf", {family: f"moir.lowering.tensorflow.{family}" for family in FAMILIES}, FAMILIES)
