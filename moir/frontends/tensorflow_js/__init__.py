"""Reading the weights of TensorFlow.js models, both those with layers of Keras and those with a graph of TensorFlow."""
