"""Reading TensorFlow models: `read_model(path)` gives a module in the `tf` dialect."""

from moir.frontends.tensorflow.model import read_model

__all__ = ["read_model"]
