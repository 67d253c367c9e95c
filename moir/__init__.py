"""moir: a neural-network model converter built as an MLIR-style compiler."""
