"""Lowerings of the operations of XLA, for every framework that has them."""
