"""The table of ONNX lowerings, in which the family modules of this package register their handlers."""

from moir.lowering.onnx.element_types import element_type
from moir.lowering.table import LoweringTable

onnx = LoweringTable(
    "onnx",
    "moir.lowering.onnx",
    readers={"Attribute": element_type},
    finish="moir.lowering.onnx.sequences.outputs:split_sequences",
    ranks="moir.lowering.onnx.ranks_by_use:RULES",
    # Where operation sets before 6 may write a result, and the precision of what is computed in between.
    implied=frozenset(("consumed_inputs", "stash_type")),
)
