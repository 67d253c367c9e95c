"""Factors of matrices, systems of linear equations, diagonals."""
