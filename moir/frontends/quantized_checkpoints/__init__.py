"""Quantized weights in *.safetensors: the tensors of a layer -> codes, scales and zero points, value for value."""

from moir.frontends.quantized_checkpoints.quantization import UNREAD, Layer, Quantization, quantization_of
from moir.frontends.quantized_checkpoints.stacked import stacked_weights

__all__ = ["UNREAD", "Layer", "Quantization", "quantization_of", "stacked_weights"]
