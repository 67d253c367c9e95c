"""Reading TensorFlow Lite models: `read_model(path)` gives a module in the `tflite` dialect."""

from moir.frontends.tflite.model import read_model

__all__ = ["read_model"]
