"""Reading Caffe models: `read_model(path)` gives a module in the `caffe` dialect."""

from moir.frontends.caffe.model import read_model

__all__ = ["read_model"]
