"""What a model consists of, before anything is converted: the results of `moir.inspect` and `moir inspect`."""
