"""The table of TensorFlow lowerings, in which the family modules of this package register their handlers."""

from moir.lowering.table import LoweringTable
from moir.lowering.tensorflow.complex_layout import adapted, check_complex
from moir.lowering.tensorflow.families import FAMILIES

tf = LoweringTable("tf", {family: f"moir.lowering.tensorflow.{family}" for family in FAMILIES}, FAMILIES, check_complex, adapted)
