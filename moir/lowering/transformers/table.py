"""The table of lowerings of the `transformers` dialect."""

from moir.lowering.table import LoweringTable

transformers = LoweringTable("transformers", "moir.lowering.transformers")
