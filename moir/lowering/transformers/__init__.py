"""Lowering of the `transformers` dialect: blocks of language models."""
