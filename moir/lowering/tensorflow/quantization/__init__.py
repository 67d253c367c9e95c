"""Quantization: conversions between floats and integers, and operations on quantized integers."""
