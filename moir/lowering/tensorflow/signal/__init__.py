"""Fourier transforms and spectrograms."""
