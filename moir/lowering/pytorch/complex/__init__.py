"""Complex numbers, which are pairs of a real and an imaginary part in a last dimension of 2."""
