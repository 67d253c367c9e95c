"""Lowering of the `mxnet` dialect: a module for each family of operations."""
