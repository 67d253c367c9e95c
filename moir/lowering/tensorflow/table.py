"""The table of TensorFlow lowerings, in which the family modules of this package register their handlers."""

from moir.lowering.table import LoweringTable
from moir.lowering.tensorflow.complex.layout import adapted, check_complex

tf = LoweringTable("tf", "moir.lowering.tensorflow", check_complex, adapted, ranks="moir.lowering.tensorflow.ranks_by_use:RULES")
