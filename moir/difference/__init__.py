"""What differs in two models: the results of `moir.diff` and `moir diff`."""
