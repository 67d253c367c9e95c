"""Lowering of the `onnx` dialect, one file per operation family."""
