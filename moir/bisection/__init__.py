"""Finding the step of a conversion that makes a model compute something else."""
