"""What extensions see of TensorFlow models."""
