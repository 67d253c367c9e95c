"""The `onnx` dialect -> an ONNX model."""
