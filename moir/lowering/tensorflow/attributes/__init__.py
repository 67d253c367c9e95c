"""Attributes that several families share: data formats, sliding windows, fused operations."""
