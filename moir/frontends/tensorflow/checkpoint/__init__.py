"""Checkpoints: the sorted table of names, and the shards with values."""
