"""Reading PaddlePaddle models: `read_model(path)` gives a module in the `paddle` dialect."""

from moir.frontends.paddle.model import read_model

__all__ = ["read_model"]
