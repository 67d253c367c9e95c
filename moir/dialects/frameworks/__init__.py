"""Nodes of single framework dialects: their inspection and construction."""
