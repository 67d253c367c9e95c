"""Passes that evaluate constant expressions."""
