"""The table of ONNX lowerings, in which the family modules of this package register their handlers."""

from moir.lowering.onnx.element_types import element_type
from moir.lowering.table import LoweringTable

onnx = LoweringTable(
    "onnx",
    "moir.lowering.onnx",
    readers={"Attribute": element_type},
    finish="moir.lowering.onnx.sequences.outputs:split_sequences",
    # Attributes that change no result: hints of operation sets before 6 on memory, and on the precision within a node.
    implied=frozenset(("consumed_inputs", "stash_type")),
)
