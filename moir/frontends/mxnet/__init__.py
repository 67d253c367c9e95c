"""Reading MXNet models: `read_model(path)` gives a module in the `mxnet` dialect."""

from moir.frontends.mxnet.model import read_model

__all__ = ["read_model"]
