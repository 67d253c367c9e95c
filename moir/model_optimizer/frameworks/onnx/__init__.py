"""What extensions see of ONNX models."""
