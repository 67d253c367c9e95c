"""What models of TensorFlow.js share, whether they have layers of Keras or a graph of TensorFlow: their weights."""
