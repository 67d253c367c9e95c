"""Lowering of the `mo` dialect, one file per operation family."""
