"""Fusions of means: sums that are divided by the numbers of their summands."""
