"""Loops that a lowering builds itself, and tensors of different sizes that loops concatenate."""
