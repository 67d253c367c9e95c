"""Sequences of tensors and optional values, which exist only while converting."""
