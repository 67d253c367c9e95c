"""Parts of `moir-opt`."""
