"""Lowerings in the other direction: operations of the opset dialects become operations of the `onnx` dialect."""
