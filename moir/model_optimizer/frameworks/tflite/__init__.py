"""What extensions see of TensorFlow Lite's models."""
