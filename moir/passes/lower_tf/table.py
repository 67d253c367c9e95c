"""The table of TensorFlow lowerings, which the families of this package fill."""

from moir.passes.lower_tf.families import FAMILIES
from moir.passes.lowering import LoweringTable

tf = LoweringTable("tf", {family: f"moir.passes.lower_tf.{family}" for family in FAMILIES}, FAMILIES)
