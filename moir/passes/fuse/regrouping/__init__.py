"""Regroupings of elements, which frameworks write as Reshape, Transpose, Reshape."""
