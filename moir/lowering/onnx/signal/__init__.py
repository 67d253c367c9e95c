"""Fourier transforms, window functions and filters of signals."""
