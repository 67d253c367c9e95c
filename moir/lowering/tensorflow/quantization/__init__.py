"""Quantization: conversions between floats and integers, and operations on such integers."""
