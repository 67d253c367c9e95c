"""Programs as bytecode of MLIR with VHLO, the versioned form of StableHLO."""
