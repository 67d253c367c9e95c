"""Complex numbers of PaddlePaddle, as pairs of a real and an imaginary part in the last dimension."""
