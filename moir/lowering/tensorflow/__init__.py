"""Lowering of the `tf` dialect, one file per operation family."""
