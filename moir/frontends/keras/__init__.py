"""Keras model, `.keras` or `.h5` -> module in the `keras` dialect."""

from moir.frontends.keras.model import read_model

__all__ = ["read_model"]
