"""Reading PyTorch's exported programs: `read_model(path)` gives a module in the `aten` dialect."""

from moir.frontends.pytorch.model import read_model

__all__ = ["read_model"]
