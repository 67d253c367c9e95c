"""Fusions of convolutions."""
