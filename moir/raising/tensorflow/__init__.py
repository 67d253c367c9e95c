"""Raising of TensorFlow's control flow."""
