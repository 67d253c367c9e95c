"""Programs as bytecode of MLIR with VHLO, the versioned twin of StableHLO."""
