"""Fusions of means: sums that are divided by the number of terms."""
