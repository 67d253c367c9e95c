"""Passes that change inputs and outputs of a model: selection, shapes, types, layouts and preprocessing."""
