"""Functions of TensorFlow's Python interface that models of Keras 2 call as layers, as operations of TensorFlow."""
