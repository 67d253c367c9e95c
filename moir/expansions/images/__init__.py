"""Computations on images: colours, and regions of interest."""
