"""Lowering of the `detection` dialect: heads of detection networks."""
