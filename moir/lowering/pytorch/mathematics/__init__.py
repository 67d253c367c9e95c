"""Statistics, norms, losses, special functions, random numbers: formulas of several operations."""
