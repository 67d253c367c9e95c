"""Passes that change the inputs and outputs of a model: which they are, their shapes and types."""
