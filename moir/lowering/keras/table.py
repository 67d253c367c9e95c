"""The table of Keras lowerings, in which the family modules of this package register their handlers."""

from moir.lowering.keras.attributes import READERS
from moir.lowering.keras.policies import adapted
from moir.lowering.table import LoweringTable

keras = LoweringTable("keras", "moir.lowering.keras", adapt=adapted, readers=READERS, implied=frozenset(("dtype", "weight_names")))
