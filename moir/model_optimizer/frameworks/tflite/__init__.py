"""TensorFlow Lite models as extensions see them."""
