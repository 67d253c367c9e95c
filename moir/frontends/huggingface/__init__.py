"""Language models: a folder with config.json and *.safetensors -> module in the `transformers` dialect."""

from moir.frontends.huggingface.model import read_model

__all__ = ["read_model"]
