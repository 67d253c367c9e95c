"""State of TensorFlow models: variables and tables, and the order of the nodes that read and write them."""
