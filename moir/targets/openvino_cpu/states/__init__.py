"""Forms for the states of a model: their initial values, their element types, and the operations that read them."""
