"""Quantization: conversions between floats and scaled integers, and operations on such integers."""
