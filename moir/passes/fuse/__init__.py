"""Passes that each replace a group of operations by one operation."""
