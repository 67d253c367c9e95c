"""TensorFlow models as extensions see them."""
