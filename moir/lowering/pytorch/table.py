"""The table of PyTorch lowerings, in which the family modules of this package register their handlers."""

from moir.lowering.pytorch.arguments import READERS, arranged
from moir.lowering.pytorch.promotion import with_inferred_elements
from moir.lowering.table import LoweringTable

aten = LoweringTable(
    "aten",
    "moir.lowering.pytorch",
    check="moir.lowering.complex.check:check_complex",
    adapt=with_inferred_elements,
    readers=READERS,
    arrange=arranged,
    implied=frozenset(("arguments", "copies", "undecided")),
)
