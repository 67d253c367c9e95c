"""The differences of two models: the results of `moir.diff` and `moir diff`."""
