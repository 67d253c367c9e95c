"""Lowering of the `paddle` dialect: a module for each family of operations."""
