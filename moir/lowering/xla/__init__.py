"""What the operations of XLA mean, for every framework that has them."""
