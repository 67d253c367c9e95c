"""What trains a model in its graph, and what the trained model computes."""
