"""GELU, recognized by comparing the function that a subgraph computes with its definition."""
