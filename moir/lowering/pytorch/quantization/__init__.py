"""Quantization of PyTorch: with scales that the program has, and with scales that it computes."""
