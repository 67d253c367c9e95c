"""Passes that simplify a module without naming new operations."""
