"""Sparse tensors and segments."""
