"""Programs as text of MLIR, in the pretty and in the generic form."""
