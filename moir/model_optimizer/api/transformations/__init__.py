"""The base classes of transformations, their places in the phases, patterns and configured sub-graphs."""
