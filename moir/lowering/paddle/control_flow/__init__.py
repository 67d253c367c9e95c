"""Control flow: branches, loops, and the arrays of tensors that loops write."""
