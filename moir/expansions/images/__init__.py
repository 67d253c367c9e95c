"""Computations on images: colours, and the kernels of resizing."""
