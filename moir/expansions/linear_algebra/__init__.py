"""Determinants, factors, eigenvalues and diagonals of matrices."""
