"""Passes that change inputs and outputs of a model: which they are, their shapes, types and layouts, preprocessing."""
