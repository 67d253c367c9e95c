"""Complex numbers: pairs of real numbers in a last dimension of 2."""
