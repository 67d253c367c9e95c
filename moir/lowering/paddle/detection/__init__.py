"""Lowering of the heads of detection networks."""
