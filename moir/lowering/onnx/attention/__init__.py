"""Attention and rotary position embeddings of the domain of ONNX."""
