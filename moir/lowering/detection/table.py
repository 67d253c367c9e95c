"""The table of lowerings of the `detection` dialect."""

from moir.lowering.table import LoweringTable

detection = LoweringTable("detection", "moir.lowering.detection")
