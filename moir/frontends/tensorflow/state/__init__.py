"""State of TensorFlow models: variables and tables, and the order of what reads and writes them."""
