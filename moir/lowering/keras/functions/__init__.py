"""Functions of `keras.ops`, which functional models have as layers."""
