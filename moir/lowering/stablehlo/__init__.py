"""Lowerings of StableHLO."""
