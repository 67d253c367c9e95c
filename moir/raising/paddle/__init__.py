"""Control flow of PaddlePaddle's programs, recovered inside of the `paddle` dialect."""
