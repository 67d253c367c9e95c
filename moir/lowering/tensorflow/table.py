"""The table of TensorFlow lowerings, which the families of this package fill."""

from moir.lowering.table import LoweringTable
from moir.lowering.tensorflow.complex_layout import check_complex
from moir.lowering.tensorflow.families import FAMILIES

tf = LoweringTable("tf", {family: f"moir.lowering.tensorflow.{family}" for family in FAMILIES}, FAMILIES, check_complex)
