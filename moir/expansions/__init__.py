"""Functions that build compositions of opset operations: mathematics that lowerings, passes and extensions share."""
