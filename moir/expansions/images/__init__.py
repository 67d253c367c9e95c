"""Computations on images: colours, the kernels of resizing, and regions of interest."""
