"""Recurrent cells, in loops and unrolled, fused to operations for whole sequences."""
