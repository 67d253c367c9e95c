"""Passes that make one operation of several."""
