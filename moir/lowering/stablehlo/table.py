"""The table of StableHLO lowerings, in which the family modules of this package register their handlers."""

from moir.lowering.table import LoweringTable

stablehlo = LoweringTable(
    "stablehlo",
    "moir.lowering.stablehlo",
    implied=frozenset(("api_version", "has_side_effect", "operand_layouts", "result_layouts")),
)
