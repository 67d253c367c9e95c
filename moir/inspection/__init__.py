"""The contents of a model before any conversion: the results of `moir.inspect` and `moir inspect`."""
