"""Statistics, norms, losses, special functions, random numbers: what is computed by formulas of several operations."""
