"""Language models in GGUF, the format of llama.cpp: a file -> module in the `transformers` dialect."""

from moir.frontends.gguf.model import read_model

__all__ = ["read_model"]
