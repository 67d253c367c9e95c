"""Lowering of the `aten` dialect: a module for each family of operations."""
