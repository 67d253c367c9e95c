"""Separating the training part of a graph (gradients, updates, losses) from the predictions."""
