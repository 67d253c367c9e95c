"""ONNX models as extensions see them."""
