"""Complex numbers of every framework: real tensors with a last dimension of 2 for the real and the imaginary part."""
