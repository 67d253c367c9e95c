"""Complex numbers of PaddlePaddle: pairs in the last dimension."""
