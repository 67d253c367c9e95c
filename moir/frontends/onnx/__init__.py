"""Reading ONNX models: `read_model(path)` gives a module in the `onnx` dialect."""

from moir.frontends.onnx.model import read_model

__all__ = ["read_model"]
