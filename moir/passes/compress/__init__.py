"""Passes that make weights smaller."""
