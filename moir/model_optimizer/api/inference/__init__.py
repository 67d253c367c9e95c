"""Functions that infer shapes, values and element types of nodes."""
