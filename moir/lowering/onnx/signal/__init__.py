"""Fourier transforms and what signals are filtered with."""
