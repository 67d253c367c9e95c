"""Passes that compute what is constant."""
