"""Quantized weights in *.safetensors: the tensors of a layer -> codes, scales and zero points, value for value."""

from moir.frontends.quantized_checkpoints.quantization import Layer, Quantization, quantization_of

__all__ = ["Layer", "Quantization", "quantization_of"]
