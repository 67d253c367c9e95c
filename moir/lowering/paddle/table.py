"""The table of PaddlePaddle lowerings, in which the family modules of this package register their handlers."""

from moir.lowering.paddle.operands import READERS
from moir.lowering.table import LoweringTable

paddle = LoweringTable("paddle", "moir.lowering.paddle", "moir.lowering.complex.check:mark_complex", readers=READERS)
