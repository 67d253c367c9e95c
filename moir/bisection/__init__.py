"""Finding the step of a conversion that changes the results of a model."""
