"""Lowerings of Keras layers and of the functions of `keras.ops`."""
